/** What each answer to a question would lead to, asked again when the graph is edited. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useDocumentVersion } from "../../document/store";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import type { Question } from "../../ipc/bindings/Question";
import { rpc } from "../../ipc/client";
import { useOnlyRead } from "../model/only-read";
import { choicesOf } from "./choices";

/** Answers that are asked about together. */
const MOST = 20;
/** Until an edit of the graph is over. */
const PAUSE = 400;

/** By the answer as JSON. */
export type Previews = ReadonlyMap<string, AnswerPreview>;

export const answerKey = (answer: unknown): string => JSON.stringify(answer);

const NONE: Previews = new Map();

export function useAnswerPreviews(question: Question): {
  readonly previews: Previews;
  /** What another answer would lead to. */
  ask(answer: unknown): Promise<AnswerPreview | undefined>;
} {
  const { threadId, checkpointId, interruptId } = question;
  const version = useDocumentVersion();
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const [previews, setPreviews] = useState(NONE);
  const answers = useMemo(
    () =>
      choicesOf(question)
        .filter((choice) => !("form" in choice))
        .slice(0, MOST)
        .map((choice) => choice.value),
    [question],
  );
  const of = useCallback(
    (answers: unknown[], abort?: AbortSignal) =>
      rpc("question.preview", { threadId, checkpointId, interruptId, answers }, abort),
    [threadId, checkpointId, interruptId],
  );
  /** The question was shown before: what changed is the graph. */
  const asked = useRef(false);
  useEffect(() => {
    // What only its program knows is not asked of its graph here.
    if (answers.length === 0 || onlyRead) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        asked.current = true;
        of(answers, abort.signal).then(
          (found) => {
            if (abort.signal.aborted) return;
            setPreviews(new Map(found.previews.map((each) => [answerKey(each.answer), each])));
          },
          // A graph that cannot run leads nowhere; the list of problems says why.
          () => {
            if (!abort.signal.aborted) setPreviews(NONE);
          },
        );
      },
      asked.current ? PAUSE : 0,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [answers, of, version, onlyRead]);
  const ask = useCallback(async (answer: unknown) => (await of([answer])).previews[0], [of]);
  return { previews, ask };
}
