/** A probe: an expression at every visit of a node or an edge, in all threads, with what its values come to. */
import { Radar, SearchX } from "lucide-react";
import { useEffect, useId, useMemo, useRef, useState } from "react";
import { Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { ExpressionField } from "../../components/ExpressionField";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { askProbe, useAsked, type ProbePlace } from "../../debugger/state/asked";
import { openMoment } from "../../debugger/run/open-moment";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { doc, useIds } from "../../document/store";
import { edgeOf, END, START } from "../../document/types";
import type { NodeVisit } from "../../ipc/bindings/NodeVisit";
import { rpc } from "../../ipc/client";
import { queryIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import { type Column, MomentRows } from "./MomentRows";
import { probeText } from "./report";
import { Summary } from "./Summary";
import { Value } from "./Value";
import { createWalk } from "./walk";
import { WalkProgress } from "./SearchProgress";

const walk = createWalk<NodeVisit>();
const REST_MS = 400;

export function ProbeDialog() {
  const place = useAsked((asked) => asked.probe);
  useEffect(
    () =>
      registerCommands([
        {
          id: "debug.probe",
          title: t("probe.open"),
          group: t("shell.group.debug"),
          enabled: () => useSession.getState().graphId !== null,
          run: () => askProbe(selectedPlace()),
        },
      ]),
    [],
  );
  return place === null ? null : <Desk key={placeKey(place)} place={place} />;
}

/** The node or edge that is selected, or the first node. */
function selectedPlace(): ProbePlace {
  const { selection } = useSession.getState();
  const edge = selection.edges[0];
  if (edge !== undefined) {
    const { sources, targets } = edgeOf(doc.get(`edge:${edge}`));
    if (sources[0] !== undefined && targets[0] !== undefined) return { node: sources[0], to: targets[0] };
  }
  return {
    node: selection.nodes.find((node) => node !== START && node !== END) ?? doc.names("node")[0] ?? "",
  };
}

const ARROW = "->";
const placeKey = ({ node, to }: ProbePlace): string => (to === undefined ? node : `${node}${ARROW}${to}`);
const shown = (name: string): string =>
  name === START ? t("forms.start") : name === END ? t("forms.end") : name;

function placeText({ node, to }: ProbePlace): string {
  return to === undefined ? shown(node) : `${shown(node)} → ${shown(to)}`;
}

/** Every node, and every edge by its ends. */
function usePlaces(): readonly ProbePlace[] {
  const nodes = useIds("node");
  const edges = useIds("edge");
  return useMemo(() => {
    const places: ProbePlace[] = nodes.map((node) => ({ node }));
    for (const edge of edges) {
      const { sources, targets } = edgeOf(doc.get(`edge:${edge}`));
      for (const node of sources) for (const to of targets) places.push({ node, to });
    }
    return [...new Map(places.map((place) => [placeKey(place), place])).values()];
  }, [nodes, edges]);
}

const valueColumn = (title: string): Column<NodeVisit> => ({
  title,
  mono: true,
  wide: true,
  cell: (visit) => <Value result={visit.result} />,
});

/** Visits of an answer. Listing the threads costs an answer with few visits the same as one with many. */
const ANSWER = 2000;

function Desk({ place }: { place: ProbePlace }) {
  const graphId = useSession((session) => session.graphId);
  const names = useIds("key");
  const keys = useMemo(() => names.map((name) => ({ name, type: "", description: undefined })), [names]);
  const places = usePlaces();
  const [expression, setExpression] = useState(place.expression ?? "");
  const [asked, setAsked] = useState("");
  const [chosen, setChosen] = useState(-1);
  const { rows, state, problem } = walk.use();
  const list = useId();
  const text = expression.trim();
  const ask = () => {
    setAsked(text);
    setChosen(-1);
    void walk.start(
      text === "" || graphId === null
        ? null
        : async (after) => {
            const { visits, progress } = await rpc("node.probe", {
              node: place.node,
              ...(place.to !== undefined && { to: place.to }),
              expression: text,
              graphId,
              limit: ANSWER,
              ...(after !== undefined && { after }),
            });
            return { rows: visits, progress };
          },
    );
  };
  const askRef = useRef(ask);
  useEffect(() => {
    askRef.current = ask;
  });
  useEffect(() => {
    if (text === asked) return;
    const timer = setTimeout(() => askRef.current(), REST_MS);
    return () => clearTimeout(timer);
  }, [text, asked]);
  // What another place gave is not this one's.
  useEffect(() => {
    void walk.start(null);
    return walk.stop;
  }, []);
  const open = (visit: NodeVisit | undefined) => {
    if (!visit) return;
    askProbe(null);
    void openMoment({ threadId: visit.threadId, checkpointId: visit.checkpointId });
  };
  return (
    <Dialog
      open
      onClose={() => askProbe(null)}
      title={t("probe.title")}
      size="large"
      data-testid={queryIds.probe}
    >
      <div className="flex h-[min(620px,calc(100vh-130px))] min-h-0 flex-col gap-2">
        <div className="grid shrink-0 grid-cols-[minmax(120px,220px)_minmax(0,1fr)] items-start gap-2">
          <Select
            aria-label={t("probe.place")}
            value={placeKey(place)}
            options={places.map((one) => ({ value: placeKey(one), label: placeText(one) }))}
            onChange={(key) => {
              const next = places.find((one) => placeKey(one) === key);
              if (next) askProbe({ ...next, expression });
            }}
            data-testid={queryIds.probePlace}
          />
          <ExpressionField
            autoFocus
            value={expression}
            onChange={setExpression}
            onCommit={() => (text === asked ? open(rows[Math.max(0, chosen)]) : ask())}
            keys={keys}
            variables={VARIABLES}
            placeholder={t("probe.placeholder")}
            tellsUnknownKeys
            aria-label={t("probe.expression")}
            data-testid={queryIds.probeExpression}
          />
        </div>
        {problem ? (
          <ProblemNote problem={problem} onRetry={ask} />
        ) : rows.length > 0 ? (
          <>
            <Summary rows={rows} chosen={chosen} onChoose={setChosen} />
            <MomentRows<NodeVisit>
              id={list}
              label={t("probe.visits")}
              rows={rows}
              columns={[valueColumn(asked)]}
              chosen={chosen}
              onChoose={setChosen}
              onOpen={open}
              data-testid={queryIds.visit}
            />
          </>
        ) : state === "running" ? (
          <div className="grid min-h-0 flex-1 place-items-center">
            <Spinner label={t("query.searching")} />
          </div>
        ) : state === "idle" ? (
          <EmptyState icon={<Radar size={20} aria-hidden />} title={t("probe.begin")}>
            {t("probe.beginText")}
          </EmptyState>
        ) : (
          <EmptyState icon={<SearchX size={20} aria-hidden />} title={t("probe.nothing")}>
            {t("probe.nothingText", { place: placeText(place) })}
          </EmptyState>
        )}
        <WalkProgress
          walk={walk}
          found={tn("probe.foundOne", "probe.found", rows.length)}
          onAgain={ask}
          text={(searched) => probeText(placeText(place), asked, rows, searched)}
        />
      </div>
    </Dialog>
  );
}

const VARIABLES = ["before", "writes", "task", "run"].map((name) => ({ name, type: "" }));
