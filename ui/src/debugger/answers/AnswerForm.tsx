/** A question that waits: what it says, what changed since, and the answer, which goes to the question's id. */
import { type Ref, useCallback, useState } from "react";
import type { Question } from "../../ipc/bindings/Question";
import { answer } from "../run/answering";
import { type AnswerHandle, AskedForm } from "./AskedForm";
import { ChangedSince } from "./ChangedSince";
import { questionKey, useInbox } from "../model/inbox";
import { NoteField } from "./NoteField";
import { useAnswerPreviews } from "./useAnswerPreviews";
import { useGuard } from "../parts/useGuard";

interface Props {
  question: Question;
  /** Less room: no context unless opened. */
  compact?: boolean;
  /** It was not the person who brought it here: the first moments it takes no press. */
  byItself?: boolean;
  ref?: Ref<AnswerHandle>;
}

export function AnswerForm({ question, compact = false, byItself = false, ref }: Props) {
  const { interruptId } = question;
  const key = questionKey(question);
  const refusal = useInbox((inbox) => inbox.refusals.get(key)) ?? question.returned?.problem;
  const guarded = useGuard(byItself);
  const [note, setNote] = useState(question.returned?.note ?? "");
  const { previews, ask } = useAnswerPreviews(question);
  const send = useCallback(
    async (value: unknown) => {
      await answer(question, value, note);
      // A refusal comes with the question, which may be shown again by then.
      return null;
    },
    [question, note],
  );
  const asked = (
    <AskedForm
      ref={ref}
      asked={question}
      id={interruptId}
      draftKey={key}
      guarded={guarded}
      refusal={refusal}
      answering={false}
      onAnswer={send}
      previews={previews}
      onPreview={ask}
      compact={compact}
    >
      {!compact && <ChangedSince question={question} />}
    </AskedForm>
  );
  if (compact) return asked;
  return (
    <div className="flex flex-col gap-4">
      {asked}
      <NoteField value={note} onChange={setNote} />
    </div>
  );
}
