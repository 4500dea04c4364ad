/** A look at what the answer in the form would lead to, before it is given. */
import { useState } from "react";
import { Button } from "../../components/Button";
import type { AnswerPreview } from "../../ipc/bindings/AnswerPreview";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { AnswerPath } from "./AnswerPath";
import { sameJson } from "../parts/diff";
import { asProblem, type ShownProblem } from "../parts/problem";

/** What the answer in the form would lead to, when a person asks. */
export function DraftPreview({
  value,
  onPreview,
}: {
  value: unknown;
  onPreview(value: unknown): Promise<AnswerPreview | undefined>;
}) {
  const [shown, setShown] = useState<{ of: unknown; preview: AnswerPreview } | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const preview = await onPreview(value);
      setShown(preview ? { of: value, preview } : null);
    } catch (thrown) {
      setProblem(asProblem(thrown));
    }
    setBusy(false);
  };
  return (
    <>
      <Button variant="ghost" busy={busy} onClick={() => void look()} data-testid={debugIds.answerPreview}>
        {t("debug.preview.look")}
      </Button>
      {problem && (
        <p className="w-full text-xs text-failed">
          {problem.message} {problem.remedy}
        </p>
      )}
      {shown && sameJson(shown.of, value) && (
        <div className="w-full">
          <AnswerPath preview={shown.preview} />
        </div>
      )}
    </>
  );
}
