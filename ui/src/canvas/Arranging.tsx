/** Arranging the nodes, which can take long: what is shown meanwhile, and how it is stopped. */
import { useCallback, useEffect, useState } from "react";
import { create } from "zustand";
import { Button } from "../components/Button";
import { Spinner } from "../components/Spinner";
import { moveNodes, type Point } from "../document/edits";
import { edit } from "../document/edit";
import { doc } from "../document/store";
import { END, START } from "../document/types";
import { shellIds } from "../lib/testIds";
import { t, tn } from "../lib/texts";
import { runCommand } from "../state/commands";
import { useJobs } from "../state/jobs";
import { useSession } from "../state/session";
import { showProblem, showToast } from "../state/toasts";
import { arrange } from "./arrange";
import { placesToKeep } from "./by-hand";
import { scene } from "./scene";
import { wholeGraph } from "./reveal";
import type { ViewHub } from "./view";

/** A layout that is ready sooner is not announced. */
const SHOWN_AFTER_MS = 500;

interface Going {
  readonly going: AbortController | null;
  /** The workbench's name of it. */
  readonly work: string | null;
}

const useArranging = create<Going>(() => ({ going: null, work: null }));

/** Around a graph that is shown whole. */
const MARGIN = 80;
const roomFor = ({ size }: ViewHub) => ({ width: size.width - MARGIN, height: size.height - MARGIN });

/**
 * What is arranged, and which way. Without names those nodes are that no person has put where they are, or all of them, as
 * they always are from top to bottom.
 */
export type AutoLayout = (how?: {
  readonly names?: readonly string[];
  readonly all?: boolean;
  readonly down?: boolean;
}) => Promise<void>;

/** Arranges the graph, or some nodes where they are, as one undo step, unless it is stopped or another graph is opened meanwhile. */
export function useAutoLayout(hub: ViewHub): AutoLayout {
  const graphId = useSession((state) => state.graphId);
  useEffect(() => () => useArranging.getState().going?.abort(), [graphId]);
  return useCallback(
    async ({ names, down = false, all = down } = {}) => {
      if (useArranging.getState().going !== null) return;
      const going = new AbortController();
      useArranging.setState({ going, work: null });
      try {
        const stays = names === undefined && !all ? placesToKeep(doc) : new Map<string, Point>();
        const positions = await arrange(scene, {
          signal: going.signal,
          size: roomFor(hub),
          down,
          stays,
          begun: (work) => useArranging.setState({ work }),
          ...(names && { names }),
        });
        for (const name of positions.keys()) if (!scene.rect(name)) positions.delete(name);
        edit(t("canvas.edit.arrange"), (document) => moveNodes(document, positions));
        if (names === undefined) hub.fit(wholeGraph);
        if (stays.size > 0) sayKept([...stays.keys()]);
      } catch (thrown) {
        if (!going.signal.aborted) showProblem(thrown);
      } finally {
        if (useArranging.getState().going === going) useArranging.setState({ going: null });
      }
    },
    [hub],
  );
}

/** Says what was not arranged, and how it is. */
function sayKept(names: readonly string[]): void {
  showToast({
    tone: "info",
    text: tn("canvas.kept.one", "canvas.kept.many", names.length, { name: nameShown(names[0] ?? "") }),
    action: { label: t("canvas.command.layoutAll"), run: () => runCommand("view.layoutAll") },
  });
}

const nameShown = (name: string) =>
  name === START ? t("canvas.start") : name === END ? t("canvas.end") : name;

export function Arranging() {
  const going = useArranging((state) => state.going);
  const work = useArranging((state) => state.work);
  const percent = useJobs((jobs) => {
    const { done = 0, total = 0 } = jobs.going.get(work ?? "") ?? {};
    return total > 0 ? Math.round((done / total) * 100) : null;
  });
  const [late, setLate] = useState<AbortController | null>(null);
  useEffect(() => {
    if (going === null) return;
    const timer = setTimeout(() => setLate(going), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [going]);
  if (going === null || going !== late) return null;
  return (
    <div
      className="absolute left-1/2 bottom-3 z-10 flex items-center gap-2 py-1 pr-1 pl-3 -translate-x-1/2 border border-line rounded-lg bg-surface-1 whitespace-nowrap"
      role="status"
      data-testid={shellIds.arranging}
    >
      <Spinner />
      {t("canvas.arranging")}
      {percent !== null && <span className="tabular-nums text-text-2">{percent} %</span>}
      <Button size="small" onClick={() => going.abort()} data-testid={shellIds.stopArranging}>
        {t("forms.cancel")}
      </Button>
    </div>
  );
}
