/** Tags and metadata of a run: fields for the run form, and a line for the head of a thread. */
import { Tag } from "lucide-react";
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Fold } from "../../components/Fold";
import { Popover } from "../../components/Popover";
import { TextArea, TextField } from "../../components/TextField";
import type { RunLabels as Labels } from "../../ipc/bindings/RunLabels";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { useOnlyRead } from "../model/only-read";
import { useThread } from "../model/runStore";
import {
  entriesOf,
  labelsLine,
  labelsOf,
  type LabelTexts,
  textsOf,
  useRunLabels,
  writeLabels,
} from "./run-labels";
import { place } from "./run-models";

function useLabels(threadId: string | null): {
  texts: LabelTexts;
  labels: Labels;
  wrong: string | undefined;
  write(texts: LabelTexts): void;
} {
  const graph = useSession((session) => session.graphKey) ?? "";
  const written = useRunLabels((store) => store.written[place(graph, threadId)]);
  const thread = useThread(threadId);
  const texts = written ?? textsOf(thread?.labels);
  return { texts, ...labelsOf(texts), write: (next) => writeLabels(graph, threadId, next) };
}

/** For the run form: closed to one line. */
export function RunLabelsFold({ threadId }: { threadId: string | null }) {
  const { labels } = useLabels(threadId);
  return (
    <div className="-mx-2">
      <Fold
        small
        data-testid={debugIds.labels}
        head={
          <span className="min-w-0 truncate">
            {t("debug.labels")}
            {": "}
            {labelsLine(labels) || t("debug.labels.none")}
          </span>
        }
      >
        {() => (
          <div className="px-2 pt-1 pb-2">
            <LabelFields threadId={threadId} />
          </div>
        )}
      </Fold>
    </div>
  );
}

/** For the head of a thread that has any, with a way to change them for its next run. */
export function RunLabelsLine({ threadId }: { threadId: string }) {
  const { labels } = useLabels(threadId);
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  // It stays while the fields are open, also when they are empty for the moment.
  const [open, setOpen] = useState(false);
  const none = labels.tags.length === 0 && Object.keys(labels.metadata).length === 0;
  if (none && !open) return null;
  return (
    <div
      className="flex items-center gap-2 px-3 pb-1 text-xs text-text-2"
      data-testid={debugIds.threadLabels}
    >
      <Tag size={14} className="shrink-0" aria-label={t("debug.labels")} />
      <span className="flex min-w-0 flex-1 flex-wrap gap-1">
        {labels.tags.map((tag) => (
          <Badge key={tag} title={tag}>
            {tag}
          </Badge>
        ))}
        {entriesOf(labels).map((entry) => (
          <Badge key={entry} mono title={entry}>
            {entry}
          </Badge>
        ))}
      </span>
      {!onlyRead && (
        <Popover
          label={t("debug.labels")}
          align="end"
          open={open}
          onOpenChange={setOpen}
          trigger={
            <Button size="small" variant="ghost">
              {t("debug.models.change")}
            </Button>
          }
        >
          <LabelFields threadId={threadId} />
        </Popover>
      )}
    </div>
  );
}

function LabelFields({ threadId }: { threadId: string | null }) {
  const { texts, wrong, write } = useLabels(threadId);
  return (
    <div className="flex flex-col gap-3">
      <Field label={t("debug.labels.tags")} description={t("debug.labels.tags.text")}>
        <TextField
          value={texts.tags}
          placeholder="nightly, eval"
          onChange={(tags) => write({ ...texts, tags })}
          data-testid={debugIds.labelTags}
        />
      </Field>
      <Field
        label={t("debug.labels.metadata")}
        description={t(threadId === null ? "debug.labels.metadata.text" : "debug.labels.metadata.next")}
        error={wrong === undefined ? undefined : t("debug.labels.wrong", { line: wrong })}
      >
        <TextArea
          mono
          value={texts.metadata}
          placeholder="customer=acme"
          onChange={(metadata) => write({ ...texts, metadata })}
          data-testid={debugIds.labelMetadata}
        />
      </Field>
    </div>
  );
}
