/**
 * A version of the graph in the place of the graph as it is now: to look at, with what the thread's run says of it, or with
 * what differs from now or from another version.
 */
import { ReactFlowProvider } from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";
import { ALL_LINES, CodeEditor } from "../components/CodeEditor";
import { Spinner } from "../components/Spinner";
import { useRuns } from "../debugger/model/runStore";
import { useStatus } from "../debugger/model/status";
import { computeOverlay, type Overlay } from "../debugger/overlay/overlay-model";
import { ProblemNote } from "../debugger/run/ProblemNote";
import { unionOf } from "../document/diff";
import { doc, useDocumentVersion } from "../document/store";
import { versionsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { useSession } from "../state/session";
import type { ShownVersion } from "../state/shown-version";
import { canvasClass } from "./recipes";
import { sceneOf } from "./still-scene";
import { StillGraph } from "./StillCanvas";
import { recordsOf, useVersion } from "./useVersion";
import type { Scene } from "./window";

const NOTHING: Overlay = { nodes: new Map(), edges: new Map() };
const NONE: never[] = [];

export function VersionCanvas({ version }: { version: ShownVersion }) {
  const { content, problem: refused } = useVersion(version.graphId, version.id);
  const now = useDocumentVersion();
  const { compare, against } = version;
  const other = useVersion(version.graphId, compare ? against?.id : undefined);
  const problem = refused ?? other.problem;
  const drawn = useMemo(() => {
    if (content === null) return null;
    const older = recordsOf(content);
    if (!compare) return { records: older, marks: new Map() };
    if (against === undefined) return now >= 0 ? unionOf(older, doc.records()) : null;
    return other.content === null ? null : unionOf(older, recordsOf(other.content));
    // Asked for again with each change of the document.
  }, [content, compare, now, against, other.content]);
  const text = content?.text;
  const [scene, setScene] = useState<{ of: unknown; scene: Scene } | null>(null);
  useEffect(() => {
    if (drawn === null) return undefined;
    let current = true;
    void sceneOf(drawn.records).then((made) => current && setScene({ of: drawn, scene: made }));
    return () => {
      current = false;
    };
  }, [drawn]);
  const overlay = useShownOverlay();
  return (
    <div
      className={canvasClass}
      tabIndex={-1}
      data-testid={versionsIds.canvas}
      data-compare={compare || undefined}
    >
      {problem && <ProblemNote problem={problem} />}
      {text !== undefined && (
        <CodeEditor
          value={text}
          onChange={() => {}}
          mode="json"
          readOnly
          lineNumbers
          maxLines={ALL_LINES}
          className="h-full overflow-auto"
          aria-label={t("fileText.label")}
          data-testid={versionsIds.text}
        />
      )}
      {!problem && text === undefined && scene === null && (
        <div className="grid h-full place-items-center text-text-3">
          <Spinner label={t("versions.reading")} />
        </div>
      )}
      {!problem && text === undefined && drawn && scene?.of === drawn && (
        <ReactFlowProvider>
          <StillGraph
            key={`${version.id} ${against?.id ?? ""}`}
            scene={scene.scene}
            overlay={compare ? NOTHING : overlay}
            marks={drawn.marks}
          />
        </ReactFlowProvider>
      )}
    </div>
  );
}

/** What the thread under the cursor says, where it is looked at. */
function useShownOverlay(): Overlay {
  const cursor = useSession((session) => session.cursor);
  const use = useSession((session) => session.use);
  const shown = useRuns((store) => store.shown);
  const running = useStatus(cursor.threadId) === "running";
  return useMemo(() => {
    const here = use === "debug" && shown !== null && shown.place.threadId === cursor.threadId;
    if (!here) return NOTHING;
    const now = cursor.checkpointId === null;
    return computeOverlay({ snapshot: shown.view, now, running, breakpoints: NONE });
  }, [cursor, use, shown, running]);
}
