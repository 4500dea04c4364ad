/**
 * The conversation as something to talk in: a message below it is the input of the next run; an earlier one can be
 * rewritten, which makes a branch, with arrows between the versions at that place.
 */
import { ChevronLeft, ChevronRight, Pencil, Send, X } from "lucide-react";
import { type Ref, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { TextArea } from "../../components/TextField";
import { useCheckpoints } from "../../debugger/model/runStore";
import { useStatus } from "../../debugger/model/status";
import { isObject } from "../../debugger/parts/diff";
import { startWithInput } from "../../debugger/run/start";
import { useEarlierInputs } from "../../debugger/run/EarlierInputs";
import { roleOf, textOf } from "../../debugger/state/Conversation";
import { branchThrough } from "../../debugger/timeline/lanes";
import { type Turn, turnsOf } from "../../debugger/timeline/turns";
import { doc, useDocumentVersion } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { endEdit, setChatDraft, useChatDraft } from "./chat-draft";

const NO_TURNS: readonly Turn[] = [];

/** The state key that a message goes to: the first list of messages that an input may set. */
export function useChatKey(): string | null {
  const version = useDocumentVersion();
  return useMemo(() => {
    void version;
    const { input } = doc.head;
    const allowed = Array.isArray(input) ? input : null;
    const takes = (name: string) => {
      const key = doc.get(`key:${name}`);
      return isObject(key) && key.reducer === "add_messages" && (allowed === null || allowed.includes(name));
    };
    return doc.names("key").find(takes) ?? null;
  }, [version]);
}

/** The turns on the way to a checkpoint. */
export function useTurns(threadId: string | null, checkpointId: string | undefined): readonly Turn[] {
  const pages = useCheckpoints(threadId);
  return useMemo(() => {
    if (!pages || pages.more || checkpointId === undefined) return NO_TURNS;
    const branch = branchThrough(pages.list, checkpointId);
    const end = branch.indexOf(checkpointId);
    return end < 0 ? NO_TURNS : turnsOf(pages.list, branch.slice(0, end + 1));
  }, [pages, checkpointId]);
}

/** What can be done with a message of a person: say it otherwise, or see what came of another one at its place. */
export function TurnControls({ turn, onEdit }: { turn: Turn; onEdit(at: string): void }) {
  const { at, branches, place } = turn;
  const head = useCheckpoints(useSession((session) => session.cursor.threadId))?.list[0]?.id;
  const go = (to: number) => {
    const tip = branches[to];
    if (tip !== undefined) useSession.getState().setCursor({ checkpointId: tip === head ? null : tip });
  };
  return (
    <>
      {branches.length > 1 && (
        <span className="tabular-nums flex items-center" data-testid={debugIds.turnBranches}>
          <IconButton
            size="small"
            label={t("debug.chat.previous")}
            disabled={place === 0}
            onClick={() => go(place - 1)}
          >
            <ChevronLeft size={13} aria-hidden />
          </IconButton>
          {t("debug.chat.branch", { n: place + 1, total: branches.length })}
          <IconButton
            size="small"
            label={t("debug.chat.next")}
            disabled={place === branches.length - 1}
            onClick={() => go(place + 1)}
          >
            <ChevronRight size={13} aria-hidden />
          </IconButton>
        </span>
      )}
      {at !== undefined && (
        <IconButton
          size="small"
          label={t("debug.chat.edit")}
          onClick={() => onEdit(at)}
          data-testid={debugIds.turnEdit}
        >
          <Pencil size={12} aria-hidden />
        </IconButton>
      )}
    </>
  );
}

/** The words of a person in what a list of messages was given. */
function saidIn(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null;
  const said = messages.findLast((message: unknown) => roleOf(message) === "human");
  const text = said === undefined ? "" : textOf(said);
  return text === "" ? null : text;
}

/** Enter sends, Shift Enter begins a line. */
export function ChatInput({
  name,
  ref,
  onSent,
}: {
  /** The state key that the message goes to. */
  name: string;
  ref: Ref<HTMLFormElement>;
  onSent(): void;
}) {
  const graph = useSession((session) => session.graphKey) ?? "";
  const threadId = useSession((session) => session.cursor.threadId);
  const status = useStatus(threadId);
  const draft = useChatDraft(graph);
  const { text } = draft;
  const edited = draft.edited?.threadId === threadId ? draft.edited : null;
  const [busy, setBusy] = useState(false);
  const earlier = useEarlierInputs<string>(
    `chat/${name}`,
    (input) => saidIn(input[name]),
    text,
    (next) => setChatDraft(graph, { text: next }),
  );
  const off =
    status === "running"
      ? t("debug.off.running")
      : status === "asking" && !edited
        ? t("debug.chat.asks")
        : null;
  const send = async () => {
    const content = text.trim();
    if (content === "" || off !== null || busy) return;
    setBusy(true);
    const begun = await startWithInput(
      { [name]: [{ type: "human", content }] },
      { target: threadId === null ? "new" : "thread", at: edited?.at },
    );
    setBusy(false);
    if (!begun) return;
    earlier.end();
    endEdit(graph);
    onSent();
  };
  return (
    <form
      ref={ref}
      className="shrink-0 border-t border-line px-3 py-2"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
      data-testid={debugIds.chat}
    >
      {edited && (
        <p className="flex items-center gap-1 pb-1 text-2xs text-text-2">
          {t("debug.chat.editing")}
          <IconButton size="small" label={t("debug.cancel")} onClick={() => endEdit(graph)}>
            <X size={12} aria-hidden />
          </IconButton>
        </p>
      )}
      <div className="flex items-end gap-2">
        <TextArea
          className="min-w-0 flex-1"
          aria-label={t("debug.chat.message")}
          placeholder={off ?? t("debug.chat.placeholder")}
          value={text}
          onChange={(next) => setChatDraft(graph, { text: next })}
          minRows={1}
          maxRows={6}
          onKeyDown={(event) => {
            earlier.onKeyDown(event);
            if (event.key !== "Enter" || event.shiftKey) return;
            event.preventDefault();
            void send();
          }}
          data-testid={debugIds.chatText}
        />
        <Button
          type="submit"
          variant="primary"
          icon={<Send size={13} aria-hidden />}
          busy={busy}
          disabled={text.trim() === "" || off !== null}
          {...(off !== null && { title: off })}
          data-testid={debugIds.chatSend}
        >
          {t("debug.chat.send")}
        </Button>
      </div>
    </form>
  );
}
