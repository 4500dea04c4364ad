/** Who answers for the graph's models in the next run: fields for the run form, and a line for the head of a thread. */
import { Sparkles } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { Combobox, namesPart } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { Fold } from "../../components/Fold";
import { Popover } from "../../components/Popover";
import { Select } from "../../components/Select";
import { doc, useDocumentPart } from "../../document/store";
import { nodeOf } from "../../document/types";
import type { ModelRecording } from "../../ipc/bindings/ModelRecording";
import type { RunModels as Models } from "../../ipc/bindings/RunModels";
import { rpc } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { askingKinds, chooseModels, chosenModels, modelsLine, useRunModels } from "./run-models";
import { useThread } from "../model/runStore";

const RECORDINGS: readonly (ModelRecording | undefined)[] = [undefined, "record", "replay", "off"];

function useModels(threadId: string | null): { models: Models; choose(models: Models): void } {
  const graph = useSession((session) => session.graphKey) ?? "";
  const chosen = useRunModels((store) => chosenModels(store, graph, threadId));
  const thread = useThread(threadId);
  return {
    models: chosen ?? thread?.models ?? {},
    choose: (models) => chooseModels(graph, threadId, models),
  };
}

interface FoldProps {
  threadId: string | null;
  /** Only this node is to run. */
  nodeId?: string;
}

/** For the run form and a node's test: closed to one line, and not there where no models are asked. */
export function RunModelsFold({ threadId, nodeId }: FoldProps) {
  const kinds = useSession((session) => session.appInfo?.kinds);
  const { models } = useModels(threadId);
  const asking = useMemo(() => askingKinds(kinds ?? []), [kinds]);
  const asks = useDocumentPart(
    useCallback(() => {
      const names = nodeId === undefined ? doc.names("node") : [nodeId];
      return names.some((name) => asking.has(nodeOf(doc.get(`node:${name}`)).kind));
    }, [asking, nodeId]),
  );
  if (!asks) return null;
  return (
    <div className="-mx-2">
      <Fold
        small
        data-testid={debugIds.models}
        head={
          <span className="min-w-0 truncate">
            {t("debug.models")}
            {": "}
            {modelsLine(models) ?? t("debug.models.graph")}
          </span>
        }
      >
        {() => (
          <div className="px-2 pt-1 pb-2">
            <ModelFields threadId={threadId} />
          </div>
        )}
      </Fold>
    </div>
  );
}

/** For the head of a thread: said when it is not for the nodes to say, with a way to change it. */
export function RunModelsLine({ threadId }: { threadId: string }) {
  const { models } = useModels(threadId);
  const line = modelsLine(models);
  // It stays while the fields are open, also when nothing is chosen for the moment.
  const [open, setOpen] = useState(false);
  if (line === undefined && !open) return null;
  return (
    <div
      className="flex items-center gap-2 px-3 pb-1 text-xs text-text-2"
      data-testid={debugIds.threadModels}
    >
      <Sparkles size={14} className="shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{line ?? t("debug.models.graph")}</span>
      <Popover
        label={t("debug.models")}
        align="end"
        open={open}
        onOpenChange={setOpen}
        trigger={
          <Button size="small" variant="ghost">
            {t("debug.models.change")}
          </Button>
        }
      >
        <ModelFields threadId={threadId} />
      </Popover>
    </div>
  );
}

function ModelFields({ threadId }: { threadId: string | null }) {
  const { models, choose } = useModels(threadId);
  const [connections, setConnections] = useState<{ value: string; hint: string }[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("connections.list", {}, abort.signal).then(
      (list) =>
        setConnections(
          list.connections.map(({ name, provider }) => ({ value: `${name}::`, hint: provider })),
        ),
      () => {
        // A name can be written all the same; whether there is such a model is reported when it runs.
      },
    );
    return () => abort.abort();
  }, []);
  const { scripted, recording } = models;
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("debug.models.scripted")} description={t("debug.models.scripted.text")}>
        <Combobox
          mono
          choose={namesPart(scripted ?? "")}
          value={scripted ?? ""}
          items={connections}
          placeholder={t("debug.models.scripted.own")}
          onChange={(model) =>
            choose({
              ...(model !== "" && { scripted: model }),
              ...(recording !== undefined && { recording }),
            })
          }
          data-testid={debugIds.modelsScripted}
        />
      </Field>
      <Field label={t("debug.models.recording")} description={t("debug.models.recording.text")}>
        <Select
          value={recording}
          options={RECORDINGS.map((value) => ({
            value,
            label: t(value === undefined ? "debug.models.nodes" : `debug.models.${value}`),
          }))}
          same={Object.is}
          placeholder={t("debug.models.nodes")}
          onChange={(next) =>
            choose({
              ...(scripted !== undefined && { scripted }),
              ...(next !== undefined && { recording: next }),
            })
          }
          data-testid={debugIds.modelsRecording}
        />
      </Field>
    </div>
  );
}
