/** The choices of a question as buttons, with their keys and where each leads. */
import { cx } from "../../components/cx";
import { Kbd } from "../../components/Kbd";
import { debugIds } from "../../lib/testIds";
import { AnswerPath, textOf } from "./AnswerPath";
import { keyOf, type OwnChoice } from "./choices";
import { answerKey, type Previews } from "./useAnswerPreviews";

/** Beside the state a choice has a line, if its words fit into one, and one for where it leads, so that all of them are in view. */
const COMPACT = {
  list: "grid-cols-1 gap-1.5",
  choice: "min-h-8 py-1.5",
  words: "flex flex-wrap items-baseline gap-x-2",
  description: "min-w-0",
};

interface Props {
  choices: readonly OwnChoice[];
  off: boolean;
  compact: boolean;
  /** What they would lead to, where somebody asks that. */
  previews?: Previews;
  onTake(choice: OwnChoice): void;
}

export function AnswerChoices({ choices, off, compact, previews, onTake }: Props) {
  return (
    <div
      className={cx(
        previews ? "flex flex-col gap-2" : "grid grid-cols-[repeat(auto-fit,minmax(124px,1fr))] gap-2",
        compact && COMPACT.list,
      )}
    >
      {choices.map((choice, index) => {
        const path = "form" in choice ? undefined : previews?.get(answerKey(choice.value));
        return (
          <button
            key={index}
            type="button"
            disabled={off}
            data-answer
            {...(index === 0 && { "data-answer-first": true })}
            className={cx(
              "flex min-h-11 items-start gap-3 rounded-md border border-line-field bg-surface-2 px-3 py-2.5 text-left transition-opacity not-disabled:hover:border-accent not-disabled:hover:bg-accent-soft disabled:opacity-50",
              compact && COMPACT.choice,
            )}
            onClick={() => onTake(choice)}
            data-testid={debugIds.answerChoice}
            data-choice={index + 1}
          >
            <Kbd keys={keyOf(choices, index)} />
            <span className={cx("min-w-0 flex-1", compact && COMPACT.words)}>
              <span className="block text-sm font-semibold">{choice.label}</span>
              {choice.description !== undefined && (
                <span className={cx("block text-xs text-text-2", compact && COMPACT.description)}>
                  {choice.description}
                </span>
              )}
              {previews && !("form" in choice) && (
                <span className="block w-full" title={path && textOf(path)}>
                  <AnswerPath preview={path} />
                </span>
              )}
            </span>
          </button>
        );
      })}
    </div>
  );
}
