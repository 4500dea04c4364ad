/** A request to a model, to be changed and run by itself: the request on the left, the answers beside the one in the thread. */
import { Play, Square } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Spinner } from "../../components/Spinner";
import {
  type Draft,
  draftOf,
  mapped,
  type Part,
  PARTS,
  type Subject,
} from "../../debugger/exchanges/playground";
import {
  closePlayground,
  keyOf,
  runTry,
  stopTry,
  usePlayground,
} from "../../debugger/exchanges/playground-attempts";
import { taskIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { renderAt } from "./render";
import { RequestSide } from "./RequestSide";
import { configOf } from "./subject";
import { Tries } from "./Tries";

export function PlaygroundDialog() {
  const subject = usePlayground((store) => store.subject);
  return subject === null ? null : <Playground key={keyOf(subject)} subject={subject} />;
}

const NO_TRIES = [] as const;

function Playground({ subject }: { subject: Subject }) {
  const graphId = useSession((session) => session.graphId);
  const key = keyOf(subject);
  const tries = usePlayground((store) => store.tries[key]) ?? NO_TRIES;
  const [draft, setDraft] = useState<Draft>(() => draftOf(subject.exchange));
  const [unmapped, setUnmapped] = useState(false);
  const running = tries.find((one) => one.state === "running");

  // Which messages are the node's own prompts is known by what they give at the moment of the task.
  useEffect(() => {
    const config = configOf(subject);
    if (!config || graphId === null) return;
    const abort = new AbortController();
    const templates: Partial<Record<Part, string>> = {};
    for (const part of PARTS) {
      const template = config[part];
      if (typeof template === "string" && template.trim() !== "") templates[part] = template;
    }
    void Promise.all(
      PARTS.map(async (part) => {
        const template = templates[part];
        if (template === undefined) return [part, undefined] as const;
        const { text } = await renderAt(subject, graphId, template, abort.signal);
        return [part, text] as const;
      }),
    ).then(
      (rendered) => {
        if (abort.signal.aborted) return;
        const texts = Object.fromEntries(rendered.filter(([, text]) => text !== undefined));
        setDraft((known) => {
          const next = mapped(known, templates, texts);
          setUnmapped(Object.keys(next.places).length < Object.keys(templates).length);
          return next;
        });
      },
      () => {
        // The messages can be edited as they were sent.
      },
    );
    return () => abort.abort();
  }, [subject, graphId]);

  return (
    <Dialog
      open
      size="full"
      onClose={closePlayground}
      title={t("playground.title", { node: subject.node ?? subject.exchange.model })}
      data-testid={taskIds.playground}
    >
      <div className="flex min-h-0 flex-1 flex-col gap-4 lg:flex-row">
        <div className="flex min-h-0 flex-1 flex-col overflow-y-auto lg:max-w-1/2 lg:pr-1">
          <RequestSide subject={subject} draft={draft} unmapped={unmapped} onChange={setDraft} />
          <div className="sticky bottom-0 mt-3 flex items-center gap-3 border-t border-line bg-surface-1 py-2">
            <Button
              variant="primary"
              icon={<Play size={14} aria-hidden />}
              disabled={graphId === null || running !== undefined || draft.model.trim() === ""}
              onClick={() => {
                if (graphId !== null) void runTry(subject, graphId, draft);
              }}
              data-testid={taskIds.playgroundRun}
            >
              {t("playground.run")}
            </Button>
            {running && (
              <>
                <Spinner label={t("playground.running")} />
                <span className="text-xs text-text-2">{t("playground.running")}</span>
                <Button
                  size="small"
                  icon={<Square size={12} aria-hidden />}
                  onClick={() => stopTry(running.id)}
                  data-testid={taskIds.playgroundStop}
                >
                  {t("playground.stop")}
                </Button>
              </>
            )}
          </div>
        </div>
        <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
          <Tries subject={subject} tries={tries} onRestore={setDraft} />
        </div>
      </div>
    </Dialog>
  );
}
