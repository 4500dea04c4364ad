/** Shows what is selected, and puts the cursor into a field when somebody asks for it. */
import { useDeferredValue, useEffect, useLayoutEffect, useRef, type ReactNode } from "react";
import { KnownValues } from "../../components/code/known-values";
import { errorNode } from "../../document/error-ways";
import { doc, useRecord } from "../../document/store";
import { END, sectionOf, START } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { type Selection, useSession } from "../../state/session";
import { EdgeInspector } from "./EdgeInspector";
import { ErrorWayInspector } from "./ErrorWayInspector";
import { GraphInspector } from "./GraphInspector";
import { useValueLookup } from "./last-state";
import { ManyInspector } from "./ManyInspector";
import { NodeInspector, type NodeSection, TerminalInspector } from "./NodeInspector";

const namesOf = ({ nodes, edges }: Pick<Selection, "nodes" | "edges">): string =>
  [...nodes, "|", ...edges].join("\n");

const NOTHING: Selection = { nodes: [], edges: [], key: null };

/** How long a field is looked for: editors are loaded on first use. */
const PATIENCE_MS = 1500;

/** `LastRun` is what the debugger shows of the selected node: its breakpoints and its last run. */
export function Inspector({ LastRun }: { LastRun?: NodeSection }) {
  const selection = useSession((state) => state.selection);
  // The canvas shows at once what is selected; its settings, with an editor for each expression, take several frames.
  const deferred = useDeferredValue<Selection | null>(selection, null);
  const isBehind = deferred === null || namesOf(deferred) !== namesOf(selection);
  const place = useRef<HTMLDivElement>(null);
  useFieldFocus(place, isBehind);

  const { nodes, edges } = deferred ?? NOTHING;
  // Another thing is shown from its beginning: the panel keeps its scroll otherwise.
  const shown = namesOf({ nodes, edges });
  useLayoutEffect(() => {
    if (place.current) place.current.scrollTop = 0;
  }, [shown]);
  const single = nodes.length + edges.length === 1;
  const failing = edges[0] === undefined ? null : errorNode(doc, edges[0]);
  return (
    <Looked>
      <div
        className="h-full overflow-x-hidden overflow-y-auto bg-surface-1"
        ref={place}
        inert={isBehind}
        data-testid={formsIds.inspector}
      >
        {deferred === null ? null : nodes.length + edges.length > 1 ? (
          <ManyInspector nodes={nodes} edges={edges} />
        ) : single && nodes[0] !== undefined ? (
          <OneNode key={nodes[0]} name={nodes[0]} LastRun={LastRun} />
        ) : single && failing !== null ? (
          <ErrorWayInspector key={edges[0]} name={failing} />
        ) : single && edges[0] !== undefined ? (
          <EdgeInspector key={edges[0]} id={edges[0]} />
        ) : (
          <GraphInspector />
        )}
      </div>
    </Looked>
  );
}

/** Gives the editors inside the values of the last run. By itself: what it follows draws nothing else again. */
function Looked({ children }: { children: ReactNode }) {
  return <KnownValues value={useValueLookup()}>{children}</KnownValues>;
}

function OneNode({ name, LastRun }: { name: string; LastRun: NodeSection | undefined }) {
  const record = useRecord(`node:${name}`);
  if (name === START || name === END) return <TerminalInspector name={name} />;
  // Deleted or undone while it was selected.
  if (record === undefined) return <GraphInspector />;
  return <NodeInspector name={name} LastRun={LastRun} />;
}

/** Follows `focusField`: finds the field of a pointer, or the nearest one above it, and focuses what is in it. */
function useFieldFocus(place: React.RefObject<HTMLDivElement | null>, isBehind: boolean): void {
  const pending = useSession((state) => state.pendingFocus);
  useEffect(() => {
    if (pending === null || isBehind) return;
    const section = sectionOf(pending.record)?.section;
    if (section === "key") return;
    const began = performance.now();
    let frame = 0;
    const look = () => {
      const field = findField(place.current, pending.pointer ?? "");
      const target = field?.querySelector<HTMLElement>(
        "input:not([type=hidden]):not([aria-hidden=true]), textarea, .cm-content, [role=combobox], [role=switch], button",
      );
      const waiting = field?.querySelector("[data-waiting]") !== null && field !== null;
      if ((target && !waiting) || performance.now() - began > PATIENCE_MS) {
        target?.focus({ preventScroll: true });
        field?.scrollIntoView({ block: "nearest" });
        flash(field);
        useSession.getState().clearPendingFocus();
        return;
      }
      frame = requestAnimationFrame(look);
    };
    frame = requestAnimationFrame(look);
    return () => cancelAnimationFrame(frame);
  }, [pending, place, isBehind]);
}

function findField(root: HTMLElement | null, pointer: string): HTMLElement | null {
  if (root === null || pointer === "") return null;
  for (let at = pointer; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = root.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(at)}"]`);
    if (found) return found;
  }
  return null;
}

function flash(field: HTMLElement | null): void {
  if (field === null) return;
  field.dataset["flash"] = "";
  setTimeout(() => delete field.dataset["flash"], 1200);
}
