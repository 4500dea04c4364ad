/**
 * The conversation at the cursor: the messages that the state holds, and after them what is being written right now.
 * A graph without a list of messages shows what its models were asked in the last run, and what they answered.
 */
import { MessagesSquare } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { EmptyState } from "../../components/EmptyState";
import { MessageBubble, roleOf, textOf } from "../../debugger/state/Conversation";
import { isObject } from "../../debugger/parts/diff";
import { conversationOf, type Streamed } from "../../debugger/exchanges/conversation";
import { useExchangesOfRun } from "../../debugger/exchanges/useExchanges";
import { ensureStarted } from "../../debugger/model/connect";
import { lastRun } from "../../debugger/model/status";
import { useLive, useRuns, useThread } from "../../debugger/model/runStore";
import type { Turn } from "../../debugger/timeline/turns";
import { hereValue } from "../../debugger/state/state-rows";
import { useStreamLog } from "../../debugger/model/useStreamLog";
import { loadValue, useValues, valueId } from "../../debugger/state/values";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { ChatInput, TurnControls, useChatKey, useTurns } from "./Chat";
import { editMessage } from "./chat-draft";
import { FollowList } from "./FollowList";
import { FollowBar } from "./StreamPanel";

interface Item {
  readonly id: string;
  readonly message: unknown;
  readonly node?: string;
  readonly fresh: boolean;
  readonly live: boolean;
}

export function MessagesPanel() {
  useEffect(ensureStarted, []);
  const cursor = useSession((session) => session.cursor);
  const shown = useRuns((store) => store.shown);
  const log = useStreamLog(cursor.threadId);
  const [follow, setFollow] = useState(true);
  const here = shown && shown.place.threadId === cursor.threadId ? shown : null;
  const view = here?.view.keys.find((key) => key.reducer === "add_messages");
  const id = here && view ? valueId(here.place, here.view, view) : "";
  const loaded = useValues((store) => store.entries.get(id));
  const value = view ? hereValue(view, loaded) : undefined;
  useEffect(() => {
    if (here && view && value && !value.complete && !loaded?.loading && loaded?.problem === undefined)
      void loadValue(here.place, here.view, view, "all");
  }, [here, view, value, loaded]);

  const run = lastRun(useThread(cursor.threadId), useLive(cursor.threadId));
  const exchanges = useExchangesOfRun(
    here && !view ? cursor.threadId : null,
    run && Date.parse(run.startedAt),
  );
  const items = useMemo(() => {
    const list: Item[] = [];
    const streamed: Streamed[] = [];
    const known = new Set<string>();
    const messages = Array.isArray(value?.value) ? (value.value as unknown[]) : [];
    const old = view?.change === "appended" ? (view.previous?.length ?? messages.length) : messages.length;
    messages.forEach((message, index) => {
      const name = isObject(message) && typeof message.id === "string" ? message.id : undefined;
      if (name !== undefined) known.add(name);
      list.push({ id: name ?? `#${index}`, message, fresh: index >= old, live: false });
    });
    if (cursor.checkpointId === null) {
      const running = new Set(
        log.flatMap((entry) => (entry.type === "task" && entry.status === "running" ? [entry.taskId] : [])),
      );
      for (const entry of log) {
        if (entry.type !== "text" || known.has(entry.messageId)) continue;
        // With messages in the state, a text that is not among them is one that is still being written.
        const live = running.has(entry.taskId);
        if (view && !live) continue;
        const { node, taskId } = entry;
        const message = {
          type: "ai",
          content: entry.text,
          additional_kwargs: { reasoning_content: entry.reasoning },
          tool_calls: entry.calls,
        };
        if (view) list.push({ id: `${taskId}/${entry.messageId}`, message, node, fresh: false, live });
        else streamed.push({ taskId, node, message, live });
      }
    }
    return view
      ? list
      : conversationOf(exchanges, streamed).map((entry): Item => ({ ...entry, fresh: false }));
  }, [value?.value, view, log, cursor.checkpointId, exchanges]);

  const chat = useChatKey();
  const turns = useTurns(cursor.threadId, here?.view.checkpoint?.id);
  const graph = useSession((session) => session.graphKey) ?? "";
  const input = useRef<HTMLFormElement>(null);
  const edit = (at: string, text: string) => {
    if (cursor.threadId !== null) editMessage(graph, cursor.threadId, at, text);
    input.current?.querySelector("textarea")?.focus();
  };
  // Each input is one message of a person; where that is not so, it is not known which one it was.
  const own = items.filter((item) => roleOf(item.message) === "human");
  const turnOf = (item: Item): Turn | undefined =>
    view && own.length === turns.length ? turns[own.indexOf(item)] : undefined;

  const aside = (turn: Turn | undefined, item: Item) =>
    turn === undefined
      ? {}
      : {
          aside: <TurnControls turn={turn} onEdit={(at) => edit(at, textOf(item.message))} />,
        };
  const empty = cursor.threadId === null || items.length === 0;
  if (empty && chat === null) {
    return (
      <EmptyState compact icon={<MessagesSquare size={20} aria-hidden />} title={t("debug.messages.none")}>
        {t("debug.messages.noneText")}
      </EmptyState>
    );
  }
  return (
    <div className="flex h-full min-h-0 flex-col" data-testid={debugIds.messages}>
      {!empty && <FollowBar follow={follow} onFollow={setFollow} />}
      <FollowList
        items={items}
        keyOf={(item) => item.id}
        estimate={56}
        follow={follow}
        onFollow={setFollow}
        label={t("debug.messages")}
      >
        {(item) => (
          <MessageBubble
            message={item.message}
            fresh={item.fresh}
            live={item.live}
            {...(item.node !== undefined && { node: item.node })}
            {...aside(turnOf(item), item)}
          />
        )}
      </FollowList>
      {chat !== null && <ChatInput name={chat} ref={input} onSent={() => setFollow(true)} />}
    </div>
  );
}
