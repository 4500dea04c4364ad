/**
 * Replacing what was found. Of the graph that is shown it is one step of undo, of other open graphs a step of theirs, and
 * files that are not open are written by the workbench, which is asked about first.
 */
import { create } from "zustand";
import { edit, editElsewhere } from "../../document/edit";
import { flush } from "../../document/open-graph";
import { useDocumentState } from "../../document/store";
import type { MatchPlace } from "../../ipc/bindings/MatchPlace";
import type { Problem } from "../../ipc/bindings/Problem";
import type { ReplaceIn } from "../../ipc/bindings/ReplaceIn";
import { rpc, RpcProblem } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { splitPath } from "../../lib/path";
import { problemText, t, tn } from "../../lib/texts";
import { withJob } from "../../state/jobs";
import { showProblem, showToast } from "../../state/toasts";
import type { Hit } from "./rows";
import { search, useFind } from "./search";

interface Question {
  readonly hits: readonly Hit[];
  /** Files that would be written. */
  readonly files: readonly string[];
  readonly graphs: number;
}

/** The replacement that the dialog asks about. */
export const useReplaceQuestion = create<{ readonly question: Question | null }>(() => ({ question: null }));

const idOf = (hit: Hit) => hit.graphId ?? hit.path ?? "";

/** Replaces hits, after a question when files would be written that are not open. */
export function askReplace(hits: readonly Hit[]): void {
  const wanted = hits.filter((hit) => !hit.named && hit.pointer !== null);
  const files = [
    ...new Set(wanted.flatMap((hit) => (hit.graphId === null && hit.path !== null ? [hit.path] : []))),
  ];
  if (files.length === 0) void replace(wanted);
  else
    useReplaceQuestion.setState({
      question: { hits: wanted, files, graphs: new Set(wanted.map(idOf)).size },
    });
}

export async function replace(hits: readonly Hit[]): Promise<void> {
  useReplaceQuestion.setState({ question: null });
  const { query, replacement, found } = useFind.getState();
  if (!found) return;
  const files = found.files.flatMap((file): ReplaceIn[] => {
    const mine = hits.filter((hit) => idOf(hit) === (file.graphId ?? file.path));
    const only = mine.flatMap(({ record, pointer, index }): MatchPlace[] =>
      pointer === null ? [] : [{ record, pointer, index }],
    );
    if (only.length === 0) return [];
    const { graphId, path, version } = file;
    return [{ version, only, ...(graphId === undefined ? { path: path ?? "" } : { graphId }) }];
  });
  try {
    await flush();
    const answer = await withJob((work) => rpc("project.replace", { query, replacement, files, work }));
    const skipped = answer.skipped.map(({ path, problem }) => ({ name: splitPath(path).name, problem }));
    const written: string[] = [];
    let matches = 0;
    for (const file of answer.files) {
      const name = tn("find.edit.one", "find.edit.many", file.matches, { text: query.text });
      try {
        if (file.graphId === undefined) written.push(splitPath(file.path ?? "").name);
        else if (file.graphId === useDocumentState.getState().graphId) {
          if (!edit(name, { ops: file.ops })) continue;
        } else await editElsewhere(file.graphId, file.rev, name, { ops: file.ops });
        matches += file.matches;
      } catch (thrown) {
        skipped.push({ name: file.name, problem: RpcProblem.from(thrown) });
      }
    }
    say(matches, written, skipped, hits.length < found.files.flatMap((file) => file.matches).length);
  } catch (thrown) {
    showProblem(thrown);
  }
  await search();
}

function say(
  matches: number,
  written: readonly string[],
  skipped: readonly { readonly name: string; readonly problem: Problem }[],
  some: boolean,
): void {
  const detail = [
    ...(written.length > 0 ? [t("find.replaced.written", { files: brief(written) })] : []),
    ...(skipped.length > 0
      ? [
          t("find.replaced.skipped", { files: brief(skipped.map(({ name }) => name)) }),
          skipped[0] ? problemText(skipped[0].problem).message : "",
        ]
      : []),
  ].join(" ");
  // One after the other by hand says itself what it did.
  if (some && detail === "" && matches === 1) return;
  showToast({
    tone: skipped.length > 0 || matches === 0 ? "warning" : "done",
    text: matches === 0 ? t("find.replaced.none") : tn("find.replaced.one", "find.replaced.many", matches),
    ...(detail === "" ? {} : { detail }),
  });
}

const SHOWN = 5;
const brief = (names: readonly string[]) =>
  names.length <= SHOWN ? listed(names) : listed([...names.slice(0, SHOWN), "…"]);
