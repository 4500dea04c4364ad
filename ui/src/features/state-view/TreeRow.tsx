/** One row of the state tree: a key, a part of its value, or what stands below them. */
import {
  ChevronDown,
  ChevronRight,
  CircleHelp,
  FlaskConical,
  History,
  MessagesSquare,
  Pencil,
  Undo2,
} from "lucide-react";
import { memo } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { useOffCannotEdit, useOffCannotRun, useOnlyRead } from "../../debugger/model/only-read";
import { Conversation } from "../../debugger/state/Conversation";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { readablePath } from "../../debugger/parts/diff";
import { type KeyEdit, useEdits } from "../../debugger/state/edits";
import { nodeList, plain, preview } from "../../debugger/parts/format";
import { Pre } from "../../debugger/parts/Pre";
import { declaredText } from "../../components/schema-form/types";
import { changeText, isContainer, type StateRow } from "../../debugger/state/state-rows";
import { WordDiff } from "../../debugger/parts/WordDiff";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { bytes, count, listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

export const domId = (id: string): string => `state${id}`;

export const statePath = (id: string): string => `state.${readablePath(id)}`;

export const textOfValue = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value, null, 2);

interface RowProps {
  row: StateRow;
  focused: boolean;
  chat: boolean;
  onToggle(id: string): void;
  onEdit(key: string, pointer: string): void;
  onChat(key: string): void;
  onMore(row: Extract<StateRow, { type: "more" }>): void;
  onFromStart(key: string): void;
  onHistory(key: string): void;
  /** Asks what would have been with another value of a key. */
  onWhatIf(key: string): void;
  /** Returns the text of a key's value, to be copied. */
  textOf(key: string): string;
  /** Asks who wrote what stands at a JSON Pointer. */
  onWhy(pointer: string): void;
}

const indent = (depth: number) => ({ paddingLeft: 12 + depth * 14 });

export function TreeRow({
  row,
  focused,
  chat,
  onToggle,
  onEdit,
  onChat,
  onMore,
  onFromStart,
  onHistory,
  onWhatIf,
  textOf,
  onWhy,
}: RowProps) {
  switch (row.type) {
    case "key":
      return (
        <KeyRow
          row={row}
          onHistory={onHistory}
          onWhatIf={onWhatIf}
          textOf={textOf}
          onWhy={onWhy}
          focused={focused}
          chat={chat}
          onToggle={onToggle}
          onEdit={onEdit}
          onChat={onChat}
        />
      );
    case "node":
      return <NodeRow row={row} focused={focused} onToggle={onToggle} onEdit={onEdit} onWhy={onWhy} />;
    case "text":
      return (
        <div style={indent(row.depth)} className="py-1 pr-3">
          <Pre height="tall" tone="plain">
            {row.text}
          </Pre>
        </div>
      );
    case "diff":
      return (
        <div style={indent(1)} className="py-1 pr-3">
          <div className="max-h-80 overflow-y-auto rounded-sm bg-surface-2 px-2 py-1.5">
            <WordDiff before={row.before} after={row.after} />
          </div>
        </div>
      );
    case "changes":
      return (
        <ul style={indent(1)} className="py-1 pr-3 font-mono text-xs">
          {row.changes.map((change) => (
            <li key={change.pointer} className="flex flex-wrap gap-x-2 [overflow-wrap:anywhere]">
              <span className="text-text-2">{readablePath(change.pointer)}</span>
              {change.change !== "added" && (
                <del className="bg-diff-remove px-0.5 line-through decoration-failed">
                  {preview(change.before, 60)}
                </del>
              )}
              {change.change !== "removed" && (
                <ins className="bg-diff-add px-0.5 no-underline">{preview(change.after, 60)}</ins>
              )}
            </li>
          ))}
          {row.cut && <li className="text-text-3">{t("debug.state.moreChanges")}</li>}
        </ul>
      );
    case "more":
      return (
        <div style={indent(row.depth)} className="py-1">
          <Button size="small" variant="ghost" onClick={() => onMore(row)}>
            {t("debug.state.more", { n: count(Math.max(0, row.total - row.shown)) })}
          </Button>
        </div>
      );
    case "before":
      return (
        <div style={indent(1)} className="py-0.5">
          <Button size="small" variant="ghost" onClick={() => onFromStart(row.key)}>
            {t("debug.state.before", { n: count(row.count) })}
          </Button>
        </div>
      );
    case "wait":
      return (
        <p
          style={indent(1)}
          className={`py-1 pr-3 text-xs ${row.problem === undefined ? "text-text-2" : "text-failed"}`}
        >
          {row.problem ?? t("debug.loading")}
        </p>
      );
    case "chat":
      return (
        <div className="max-h-[480px] overflow-y-auto border-y border-line bg-surface-2">
          <Conversation messages={row.messages} fresh={row.fresh} />
        </div>
      );
  }
}

interface KeyActionsProps extends Pick<
  RowProps,
  "chat" | "onWhy" | "onHistory" | "onWhatIf" | "onChat" | "onEdit" | "textOf"
> {
  readonly id: string;
  readonly name: string;
  readonly absent: boolean;
  /** The row has all of the value. */
  readonly whole: boolean;
  /** The value is a list of messages. */
  readonly conversation: boolean;
  readonly edited: boolean;
}

/** What can be done with a key, under the pointer. It does not depend on the value, which is another at every step. */
const KeyActions = memo(function KeyActions({
  id,
  name,
  absent,
  whole,
  conversation,
  edited,
  chat,
  onWhy,
  onHistory,
  onWhatIf,
  onChat,
  onEdit,
  textOf,
}: KeyActionsProps) {
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const noEdit = useOffCannotEdit();
  return (
    <span
      className="ml-auto hidden shrink-0 group-focus-within:inline-flex group-hover:inline-flex"
      onClick={(event) => event.stopPropagation()}
    >
      {!absent && (
        <IconButton
          size="small"
          label={t("debug.provenance")}
          onClick={() => onWhy(id)}
          data-testid={debugIds.stateWhy}
        >
          <CircleHelp size={13} aria-hidden />
        </IconButton>
      )}
      <IconButton
        size="small"
        label={t("debug.history")}
        onClick={() => onHistory(name)}
        data-testid={debugIds.stateHistory}
      >
        <History size={13} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label={t(onlyRead ? "debug.off.onlyRead" : "whatIf.open")}
        disabled={onlyRead}
        onClick={() => onWhatIf(name)}
        data-testid={debugIds.stateWhatIf}
      >
        <FlaskConical size={13} aria-hidden />
      </IconButton>
      {conversation && (
        <IconButton size="small" pressed={chat} label={t("debug.state.asChat")} onClick={() => onChat(name)}>
          <MessagesSquare size={13} aria-hidden />
        </IconButton>
      )}
      <CopyButton text={statePath(id)} label={t("debug.copyPath")} path />
      {whole && !absent && <CopyButton text={() => textOf(name)} label={t("debug.copyValue")} />}
      {edited && (
        <IconButton
          size="small"
          label={t("debug.edit.revert")}
          onClick={() => useEdits.getState().revert(name)}
        >
          <Undo2 size={13} aria-hidden />
        </IconButton>
      )}
      <IconButton
        size="small"
        label={noEdit ?? t("debug.edit.key", { key: name })}
        disabled={noEdit !== null}
        onClick={() => onEdit(name, "")}
        data-testid={debugIds.stateEdit}
      >
        <Pencil size={13} aria-hidden />
      </IconButton>
    </span>
  );
});

const KeyRow = memo(function KeyRow({
  row,
  focused,
  chat,
  onToggle,
  onEdit,
  onChat,
  onHistory,
  onWhatIf,
  textOf,
  onWhy,
}: Omit<RowProps, "row" | "onMore" | "onFromStart"> & { row: Extract<StateRow, { type: "key" }> }) {
  const { view, edit, value, here } = row;
  const onlyRead = useOnlyRead((store) => store.onlyRead);
  const change = changeText(view);
  const Chevron = row.open ? ChevronDown : ChevronRight;
  const removed = view.value === undefined && view.change === "removed";
  const absent = view.value === undefined && !edit;
  return (
    <div
      id={domId(row.id)}
      role="treeitem"
      aria-level={1}
      aria-expanded={row.open}
      aria-selected={focused}
      data-testid={debugIds.stateKey}
      data-key={view.key}
      data-change={view.change}
      className={`group border-t border-line pr-2 pl-1 py-0.5 ${focused ? "bg-surface-3" : "hover:bg-surface-3"} ${edit ? "border-l-2 border-l-asking" : view.change !== "same" ? "border-l-2 border-l-done" : "border-l-2 border-l-transparent"}`}
      onClick={() => onToggle(row.id)}
    >
      <div className="flex h-6 items-center gap-1.5">
        <Chevron size={14} className="shrink-0 text-text-3" aria-hidden />
        <span className="max-w-3/5 shrink-0 truncate font-mono text-xs font-semibold" title={view.key}>
          {view.key}
        </span>
        {edit ? (
          <Badge tone="asking">{t("debug.edited")}</Badge>
        ) : change.kind === "appended" ? (
          <Badge tone="done">+{change.items ?? ""}</Badge>
        ) : change.kind !== "same" ? (
          <Badge tone={change.kind === "removed" ? "failed" : "done"}>
            {t(`debug.change.${change.kind}`)}
          </Badge>
        ) : null}
        {!edit && view.writers.length > 0 && (
          <span
            className="min-w-0 truncate text-2xs text-text-2"
            title={t("debug.writers", { nodes: nodeList(view.writers) })}
          >
            {t("debug.by", { nodes: nodeList(view.writers) })}
          </span>
        )}
        {absent && !removed && <span className="text-2xs text-text-3">{t("debug.state.notSet")}</span>}
        <span className="tabular-nums ml-auto min-w-0 shrink-[2] truncate text-2xs text-text-3 group-focus-within:hidden group-hover:hidden">
          {[
            // Of another program's keys neither is known.
            ...(onlyRead ? [] : [declaredText(view.declared)]),
            ...(view.reducer === "" || view.reducer === "overwrite" ? [] : [view.reducer]),
            ...(view.value && view.value.bytes > 200 ? [bytes(view.value.bytes)] : []),
          ].join(" · ")}
        </span>
        <KeyActions
          id={row.id}
          name={view.key}
          absent={absent}
          whole={here}
          conversation={(view.reducer === "add_messages" || view.key === "messages") && Array.isArray(value)}
          edited={edit !== undefined}
          {...{ chat, onWhy, onHistory, onWhatIf, onChat, onEdit, textOf }}
        />
      </div>
      {!(absent && !removed) &&
        !(
          row.open &&
          (isList(view) || isContainer(value) || (typeof value === "string" && value.length > 60))
        ) && (
          <div
            className={`mb-0.5 pl-5 text-xs ${typeof value === "string" || view.value?.kind === "string" ? "line-clamp-3 whitespace-pre-line wrap-anywhere" : "truncate font-mono"}`}
            onDoubleClick={() => onEdit(view.key, "")}
          >
            {removed ? (
              <del className="text-text-2 line-through decoration-failed">
                {plain(view.previous?.value ?? view.previous?.head ?? "")}
              </del>
            ) : (
              <OldNew view={view} edit={edit} value={value} here={here} />
            )}
          </div>
        )}
    </div>
  );
});

/** The keys without a value, in one line that opens. */
export function UnsetRow({
  row,
  focused,
  onToggle,
}: Pick<RowProps, "focused" | "onToggle"> & { row: Extract<StateRow, { type: "unset" }> }) {
  const Chevron = row.open ? ChevronDown : ChevronRight;
  return (
    <div
      id={domId(row.id)}
      role="treeitem"
      aria-level={1}
      aria-expanded={row.open}
      aria-selected={focused}
      className={`flex h-7 items-center gap-1.5 border-t border-l-2 border-line border-l-transparent pr-2 pl-1 text-xs text-text-2 ${focused ? "bg-surface-3" : "hover:bg-surface-3"}`}
      onClick={() => onToggle(row.id)}
      data-testid={debugIds.stateUnset}
    >
      <Chevron size={14} className="shrink-0 text-text-3" aria-hidden />
      <span className="shrink-0">{tn("result.unsetOne", "result.unset", row.names.length)}</span>
      {!row.open && <span className="min-w-0 truncate font-mono text-text-3">{listed(row.names)}</span>}
    </div>
  );
}

const isList = (view: KeyView): boolean => view.value?.kind === "array" || view.value?.kind === "object";

/** A longer old value would push the new one out of the line; opening the key shows both. */
const SHORT = 28;
/** Characters that three lines may hold. */
const MOST = 600;

/** One line: the value, or old → new when it changed and both are short. */
function OldNew({
  view,
  edit,
  value,
  here,
}: {
  view: KeyView;
  edit: KeyEdit | undefined;
  value: unknown;
  here: boolean;
}) {
  const text = here
    ? typeof value === "string"
      ? value.slice(0, MOST).trim() || t("result.emptyText")
      : preview(value, 200)
    : `${view.value?.head ?? ""}…`;
  const summary =
    view.value && (view.value.kind === "array" || view.value.kind === "object") && !edit
      ? tn(
          view.value.kind === "array" ? "debug.itemsOne" : "debug.fieldsOne",
          view.value.kind === "array" ? "debug.items" : "debug.fields",
          view.value.length,
        )
      : undefined;
  const old = edit ? edit.base : view.change === "changed" ? view.previous?.value : undefined;
  if (old !== undefined && !isContainer(old) && plain(old).length <= SHORT) {
    return (
      <>
        <del className="bg-diff-remove line-through decoration-failed">{plain(old, 60)}</del>
        <span className="text-text-3"> → </span>
        <ins className="bg-diff-add no-underline">{text}</ins>
      </>
    );
  }
  return (
    <>
      {summary !== undefined && <span className="mr-2 font-sans text-2xs text-text-2">{summary}</span>}
      <span className="text-text-2">{text}</span>
    </>
  );
}

const NodeRow = memo(function NodeRow({
  row,
  focused,
  onToggle,
  onEdit,
  onWhy,
}: Pick<RowProps, "focused" | "onToggle" | "onEdit" | "onWhy"> & {
  row: Extract<StateRow, { type: "node" }>;
}) {
  const off = useOffCannotRun();
  const Chevron = row.open ? ChevronDown : ChevronRight;
  const container = row.kind === "array" || row.kind === "object";
  return (
    <div
      id={domId(row.id)}
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.children > 0 ? row.open : undefined}
      aria-selected={focused}
      style={indent(row.depth)}
      className={`group flex h-6 items-center gap-1.5 pr-1 font-mono text-xs ${row.mark === "added" ? "bg-diff-add/60" : ""} ${focused ? "bg-surface-3" : "hover:bg-surface-3"}`}
      onClick={() => row.children > 0 && onToggle(row.id)}
      onDoubleClick={() => !container && onEdit(row.key, row.pointer)}
    >
      {row.children > 0 ? (
        <Chevron size={13} className="shrink-0 text-text-3" aria-hidden />
      ) : (
        <span className="w-[13px] shrink-0" />
      )}
      <span className={`shrink-0 text-text-2 ${row.hit ? "rounded-sm bg-asking-soft" : ""}`}>{row.name}</span>
      {row.mark !== undefined && (
        <span className="shrink-0 text-2xs text-done">
          {t(row.mark === "added" ? "debug.change.added" : "debug.change.changed")}
        </span>
      )}
      <span
        className={`min-w-0 flex-1 truncate ${container ? "text-text-3" : typeof row.value === "string" ? "font-sans" : ""}`}
      >
        {container && (
          <span className="mr-1.5 font-sans text-2xs">
            {tn(
              row.kind === "array" ? "debug.itemsOne" : "debug.fieldsOne",
              row.kind === "array" ? "debug.items" : "debug.fields",
              row.children,
            )}
          </span>
        )}
        {!row.open && plain(row.value, 160)}
      </span>
      <span className="hidden shrink-0 group-hover:inline-flex" onClick={(event) => event.stopPropagation()}>
        <IconButton
          size="small"
          label={t("debug.provenance")}
          onClick={() => onWhy(row.id)}
          data-testid={debugIds.stateWhy}
        >
          <CircleHelp size={12} aria-hidden />
        </IconButton>
        <CopyButton text={statePath(row.id)} label={t("debug.copyPath")} path />
        <CopyButton text={() => textOfValue(row.value)} label={t("debug.copyValue")} />
        <IconButton
          size="small"
          label={off ?? t("debug.edit.value")}
          disabled={off !== null}
          onClick={() => onEdit(row.key, row.pointer)}
        >
          <Pencil size={12} aria-hidden />
        </IconButton>
      </span>
    </div>
  );
});
