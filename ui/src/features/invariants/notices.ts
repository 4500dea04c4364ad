/** What a run says of an invariant that it goes on with: `{"log": …, "invariant": …}` among its own values. Pure. */
export interface Notice {
  readonly invariant: string;
  readonly text: string;
}

export function noticeOf(value: unknown): Notice | null {
  if (typeof value !== "object" || value === null || !("invariant" in value) || !("log" in value))
    return null;
  const { invariant, log } = value;
  return typeof invariant === "string" && typeof log === "string" ? { invariant, text: log } : null;
}
