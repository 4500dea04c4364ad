/** Answers that were typed and not sent, for when their form is shown again. */

interface Draft {
  readonly value: unknown;
  readonly tab: string;
}

/** What was typed into forms that are not shown now; the oldest go first. */
const drafts = new Map<string, Draft>();
const MAX_DRAFTS = 200;

export function keptDraft(key: string | undefined): Draft | undefined {
  return key === undefined ? undefined : drafts.get(key);
}

export function keepDraft(key: string | undefined, draft: Draft): void {
  if (key === undefined) return;
  drafts.delete(key);
  drafts.set(key, draft);
  for (const oldest of drafts.keys()) {
    if (drafts.size <= MAX_DRAFTS) break;
    drafts.delete(oldest);
  }
}
