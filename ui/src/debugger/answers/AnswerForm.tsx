/** A question that waits: what it says, what changed since, and the answer, which goes to the question's id. */
import { type Ref, useCallback } from "react";
import { doc, useDocumentVersion } from "../../document/store";
import type { Question } from "../../ipc/bindings/Question";
import { answer } from "../run/actions";
import { type AnswerHandle, AskedForm } from "./AskedForm";
import { ChangedSince } from "./ChangedSince";
import type { OwnChoice } from "./choices";
import { isObject, sameJson } from "../parts/diff";
import { questionKey, useInbox } from "../model/inbox";
import { leadsTo } from "./leads-to";
import { useRuns } from "../model/runStore";
import { useGuard } from "./useGuard";

interface Props {
  question: Question;
  /** Less room: no context unless opened. */
  compact?: boolean;
  /** It was not the person who brought it here: the first moments it takes no press. */
  byItself?: boolean;
  ref?: Ref<AnswerHandle>;
}

export function AnswerForm({ question, compact = false, byItself = false, ref }: Props) {
  const { interruptId, threadId } = question;
  const key = questionKey(question);
  const refusal = useInbox((inbox) => inbox.refusals.get(key));
  const ours = useRuns((store) => store.threads.has(threadId));
  const guarded = useGuard(byItself);
  const version = useDocumentVersion();
  const send = useCallback(
    async (value: unknown) => {
      await answer(question, value);
      // A refusal comes with the question, which may be shown again by then.
      return null;
    },
    [question],
  );
  const leads = useCallback(
    (choices: readonly OwnChoice[]) => {
      void version;
      return ours ? leadsOf(question, choices) : [];
    },
    [version, ours, question],
  );
  return (
    <AskedForm
      ref={ref}
      asked={question}
      id={interruptId}
      draftKey={key}
      guarded={guarded}
      refusal={refusal}
      answering={false}
      onAnswer={send}
      leads={leads}
      compact={compact}
    >
      {!compact && <ChangedSince question={question} />}
    </AskedForm>
  );
}

/** Where each choice leads, when the question's graph is the open one and its edges show it. */
function leadsOf(question: Question, choices: readonly OwnChoice[]): (string[] | undefined)[] {
  const node = doc.get(`node:${question.node}`);
  const config = isObject(node) ? node["config"] : undefined;
  const into = isObject(config) ? config["into"] : undefined;
  if (typeof into !== "string") return choices.map(() => undefined);
  const edges = doc.names("edge").map((name) => ({ value: doc.get(`edge:${name}`) as unknown }));
  const answers = choices.filter((choice) => !("form" in choice));
  const found = answers.map((choice) => leadsTo(edges, question.node, into, choice.value));
  // When every choice leads to the same place, repeating it on each button adds nothing.
  return found.length > 1 && found.every((each) => sameJson(each, found[0]))
    ? choices.map(() => undefined)
    : found;
}
