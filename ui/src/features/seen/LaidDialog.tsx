/** Which nodes of a graph of our own stand for nodes of other names in the threads. */
import { useEffect, useState } from "react";
import { FormDialog } from "../../components/FormDialog";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { LaidView } from "../../ipc/bindings/LaidView";
import { rpc } from "../../ipc/client";
import { fileOf } from "../../lib/path";
import { shellIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showAgain } from "../../debugger/run/seen";

type Names = Readonly<Record<string, string>>;

export function LaidDialog({ graphId, onClose }: { readonly graphId: string; onClose(): void }) {
  const [view, setView] = useState<LaidView | null>(null);
  const [names, setNames] = useState<Names>({});
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const abort = new AbortController();
    rpc("graph.laid", { graphId }, abort.signal).then(
      (found) => {
        setView(found);
        setNames(found.names as Names);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown));
      },
    );
    return () => abort.abort();
  }, [graphId]);

  const path = view?.path;
  const save = async () => {
    if (path === undefined) return;
    setBusy(true);
    setProblem(null);
    try {
      await rpc("graph.lay", { graphId, path, names });
      await showAgain(graphId);
      onClose();
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  /** A node stands for one of theirs at most: chosen again, it leaves the other. */
  const choose = (seen: string, ours: string | null) =>
    setNames((all) => {
      const rest = Object.entries(all).filter(([other, node]) => other !== seen && node !== ours);
      return Object.fromEntries(ours === null ? rest : [...rest, [seen, ours]]);
    });
  return (
    <FormDialog
      title={t("seen.lay.title", { file: fileOf(path ?? "") })}
      description={t("seen.lay.help")}
      size="medium"
      save={t("seen.lay.save")}
      saveTestId={shellIds.laidSave}
      isDone={path !== undefined}
      busy={busy}
      onSave={() => void save()}
      onClose={onClose}
      data-testid={shellIds.laidNames}
    >
      {problem && <ProblemNote problem={problem} />}
      {view === null && !problem && <Spinner label={t("debug.loading")} />}
      {view !== null && (
        <table className="w-full border-separate border-spacing-y-1 text-left">
          <thead className="text-xs/inherit text-text-2">
            <tr>
              <th className="font-medium">{t("seen.lay.theirs")}</th>
              <th className="font-medium">{t("seen.lay.own")}</th>
            </tr>
          </thead>
          <tbody>
            {view.nodes.map((seen) => (
              <tr key={seen}>
                <td className="w-1/2 pr-3 font-mono wrap-anywhere">{seen}</td>
                <td>
                  <Select<string | null>
                    value={names[seen] ?? null}
                    options={[
                      // One of the same name is the same.
                      ...(view.own.includes(seen) && !isTaken(names, seen)
                        ? []
                        : [{ value: null, label: t("seen.lay.none"), absent: true }]),
                      ...view.own.map((node) => ({ value: node, label: node })),
                    ]}
                    onChange={(ours) => choose(seen, ours)}
                    size="small"
                    aria-label={t("seen.lay.own")}
                    data-testid={shellIds.laidRow(seen)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </FormDialog>
  );
}

/** Whether a node of ours stands for one of theirs that is called otherwise. */
const isTaken = (names: Names, node: string): boolean =>
  Object.entries(names).some(([seen, ours]) => ours === node && seen !== node);
