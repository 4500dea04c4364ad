/** Where invariants were broken in all threads of the graph: moments, with progress and what ends it. */
import { ShieldCheck, ShieldPlus } from "lucide-react";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { nodeList } from "../../debugger/parts/format";
import { askCheck, useAsked } from "../../debugger/state/asked";
import { placeOf, saysOf } from "../../document/invariants";
import { flush } from "../../document/open-graph";
import type { BrokenMoment } from "../../ipc/bindings/BrokenMoment";
import { rpc } from "../../ipc/client";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { type Column, createWalk, MomentRows, WalkProgress } from "../query";
import { useInvariants } from "./useStandingAtCursor";

const walk = createWalk<BrokenMoment>();
const ALL = "";

export function CheckDialog() {
  const check = useAsked((asked) => asked.check);
  return check === null ? null : <Desk only={check.only ?? ALL} />;
}

const columns = (): readonly Column<BrokenMoment>[] => [
  { title: t("invariants.invariant"), wide: true, cell: (moment) => <Broken moment={moment} /> },
];

function Desk({ only }: { only: string }) {
  const graphId = useSession((session) => session.graphId);
  const invariants = useInvariants();
  const { rows, state, problem } = walk.use();
  const [chosen, setChosen] = useState(-1);
  const list = useId();
  const any = invariants.length > 0;
  const ask = () => {
    setChosen(-1);
    void walk.start(
      graphId === null || !any
        ? null
        : async (after) => {
            // What was written a moment ago counts.
            if (after === undefined) await flush();
            const { moments, progress } = await rpc("invariants.check", {
              graphId,
              ...(only !== ALL && { only }),
              ...(after !== undefined && { after }),
              limit: 0,
            });
            return { rows: moments, progress };
          },
    );
  };
  const askRef = useRef(ask);
  useEffect(() => {
    askRef.current = ask;
  });
  useEffect(() => {
    askRef.current();
    return walk.stop;
  }, [only, graphId, any]);
  const open = (moment: BrokenMoment | undefined) => {
    if (!moment) return;
    askCheck(null);
    void openMoment({ threadId: moment.threadId, checkpointId: moment.checkpointId });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined) {
      setChosen(Math.max(0, Math.min(rows.length - 1, to)));
      event.preventDefault();
    } else if (event.key === "Enter" && chosen >= 0) open(rows[chosen]);
  };
  return (
    <Dialog
      open
      onClose={() => askCheck(null)}
      title={t("invariants.dialog")}
      size="large"
      data-testid={queryIds.checkDialog}
    >
      <div className="flex h-[min(560px,calc(100vh-130px))] min-h-0 flex-col gap-2">
        {any && (
          <Select
            size="small"
            className="max-w-100"
            aria-label={t("invariants.invariant")}
            value={only}
            options={[
              { value: ALL, label: t("invariants.all") },
              ...invariants.map((invariant) => ({
                value: invariant.id,
                label: [placeOf(invariant.record), saysOf(invariant)]
                  .filter((part) => part !== "")
                  .join(" · "),
              })),
            ]}
            onChange={(next) => askCheck({ only: next })}
          />
        )}
        {!any ? (
          <EmptyState icon={<ShieldPlus size={20} aria-hidden />} title={t("invariants.none")}>
            {t("invariants.noneText")}
          </EmptyState>
        ) : problem ? (
          <ProblemNote problem={problem} onRetry={ask} />
        ) : rows.length > 0 ? (
          <MomentRows<BrokenMoment>
            id={list}
            label={t("invariants.dialog")}
            rows={rows}
            columns={columns()}
            chosen={chosen}
            onChoose={setChosen}
            onOpen={open}
            onKeyDown={onKeyDown}
            data-testid={queryIds.broken}
          />
        ) : state === "running" || state === "idle" ? (
          <div className="grid min-h-0 flex-1 place-items-center">
            <Spinner label={t("query.searching")} />
          </div>
        ) : (
          <EmptyState icon={<ShieldCheck size={20} aria-hidden />} title={t("invariants.held")}>
            {state === "done" ? t("invariants.heldText") : t("query.stopped")}
          </EmptyState>
        )}
        <WalkProgress
          walk={walk}
          found={tn("invariants.foundOne", "invariants.found", rows.length)}
          onAgain={ask}
        />
      </div>
    </Dialog>
  );
}

function Broken({ moment: { says, nodes, checkpoints } }: { moment: BrokenMoment }) {
  const by = nodes.length > 0 ? t("query.by", { node: nodeList(nodes) }) : t("query.byInput");
  return (
    <>
      <span className="block truncate" title={says}>
        {says}
      </span>
      <span className="block truncate text-2xs text-text-3">
        {by}
        {checkpoints > 1 && ` · ${t("invariants.lasted", { n: checkpoints })}`}
      </span>
    </>
  );
}
