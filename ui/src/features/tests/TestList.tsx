/** The tests of the open graph at the foot of the threads: how many there are and how they came out; they open from here. */
import { FlaskConical } from "lucide-react";
import { useEffect } from "react";
import { askTests } from "../../debugger/state/asked";
import { testsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { loadTests, useTests } from "./store";

export function TestList() {
  const graphId = useSession((session) => session.graphId);
  const list = useTests((store) => store.list);
  const outcomes = useTests((store) => store.outcomes);
  useEffect(() => void loadTests(graphId), [graphId]);
  const tests = list?.tests ?? [];
  if (graphId === null || tests.length === 0) return null;
  const known = tests.filter((test) => outcomes.has(test.name));
  const passed = known.filter((test) => outcomes.get(test.name)?.result?.passed === true).length;
  return (
    <button
      type="button"
      className="flex h-8 w-full shrink-0 items-center gap-1.5 border-t border-line px-2 text-left text-xs font-semibold text-text-2 hover:text-text"
      onClick={() => askTests(true)}
      data-testid={testsIds.section}
    >
      <FlaskConical size={14} aria-hidden />
      {t("tests.title")}
      <span className="font-normal tabular-nums text-text-3">{tests.length}</span>
      {known.length > 0 && (
        <span
          className="ml-auto font-normal text-text-3 data-failed:text-failed"
          data-failed={passed < known.length || undefined}
        >
          {tn("tests.summaryOne", "tests.summary", known.length, { passed })}
        </span>
      )}
    </button>
  );
}
