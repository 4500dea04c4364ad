/** One row of a what-if grid: its name and what is to be different, each beside what it is now. */
import { Copy, ListPlus, Plus, Trash2, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Combobox } from "../../components/Combobox";
import { IconButton } from "../../components/IconButton";
import { Menu } from "../../components/Menu";
import { Popover } from "../../components/Popover";
import { TextArea, TextField } from "../../components/TextField";
import { hintClass } from "../../components/recipes";
import { preview } from "../../debugger/parts/format";
import { useRecords } from "./useRecords";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { whatIfIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import {
  type Change,
  type ChangeKind,
  copyRow,
  type DraftRow,
  isWhole,
  linesOf,
  newChange,
  rowName,
  type SettingOption,
  varied,
} from "./draft";

const KINDS: readonly ChangeKind[] = ["value", "setting", "model", "input"];

interface Props {
  row: DraftRow;
  number: number;
  /** Fields that are not complete are marked. */
  marked: boolean;
  state: readonly KeyView[];
  /** The change whose value has the focus when the form opens. */
  typed: number | undefined;
  onChange(row: DraftRow): void;
  /** Adds rows after this one. */
  onAdd(rows: readonly DraftRow[]): void;
  /** Puts rows in its place. */
  onReplace(rows: readonly DraftRow[]): void;
  onRemove(): void;
}

export function RowEditor({ row, number, marked, state, typed, ...does }: Props) {
  const { onChange, onAdd, onReplace, onRemove } = does;
  const settings = useRecords();
  const set = (changes: readonly Change[]) => onChange({ ...row, changes });
  const has = (kind: ChangeKind) => row.changes.some((change) => change.kind === kind);
  return (
    <section
      className="flex flex-col gap-1.5 rounded-md border border-line bg-surface-2 p-2"
      aria-label={t("whatIf.row", { n: number })}
      data-testid={whatIfIds.row(number)}
    >
      <div className="flex items-center gap-2">
        <span className="w-12 shrink-0 text-xs font-medium text-text-2">
          {t("whatIf.row", { n: number })}
        </span>
        <TextField
          aria-label={t("whatIf.name")}
          placeholder={rowName(row, t("whatIf.noChange"))}
          value={row.name}
          onChange={(name) => onChange({ ...row, name })}
        />
        <Menu
          align="end"
          trigger={
            <Button
              size="small"
              variant="ghost"
              icon={<Plus size={13} aria-hidden />}
              data-testid={whatIfIds.addChange}
            >
              {t("whatIf.addChange")}
            </Button>
          }
          entries={KINDS.map((kind) => ({
            id: kind,
            label: t(`whatIf.kind.${kind}`),
            disabled: (kind === "model" || kind === "input") && has(kind),
            run: () => set([...row.changes, newChange(kind)]),
          }))}
        />
        <IconButton size="small" label={t("whatIf.duplicate")} onClick={() => onAdd([copyRow(row)])}>
          <Copy size={13} aria-hidden />
        </IconButton>
        <IconButton size="small" label={t("whatIf.removeRow")} onClick={onRemove}>
          <Trash2 size={13} aria-hidden />
        </IconButton>
      </div>
      {row.changes.map((change) => (
        <ChangeEditor
          key={change.id}
          change={change}
          invalid={marked && !isWhole(change)}
          state={state}
          settings={settings}
          typed={change.id === typed}
          onChange={(next) => set(row.changes.map((one) => (one.id === change.id ? next : one)))}
          onRemove={() => set(row.changes.filter((one) => one.id !== change.id))}
          onVary={(values) => onReplace(varied(row, change, values))}
        />
      ))}
    </section>
  );
}

interface ChangeProps {
  change: Change;
  invalid: boolean;
  state: readonly KeyView[];
  settings: readonly SettingOption[];
  typed: boolean;
  onChange(change: Change): void;
  onRemove(): void;
  onVary(values: readonly string[]): void;
}

/** What a change is about, as it is now; `undefined` while that is not known. */
function current(change: Change, { state, settings }: Pick<ChangeProps, "state" | "settings">): unknown {
  if (change.kind === "setting") return settings.find(({ pointer }) => pointer === change.name)?.value;
  const key = state.find(({ key }) => key === change.name);
  return key?.value === undefined ? undefined : (key.value.value ?? key.value.head);
}

function ChangeEditor({ change, invalid, state, settings, typed, onChange, onRemove, onVary }: ChangeProps) {
  const now = current(change, { state, settings });
  const named = change.kind === "value" || change.kind === "setting";
  const name = (value: string) => {
    const pointer =
      change.kind === "setting" ? (settings.find(({ label }) => label === value)?.pointer ?? value) : value;
    const next = current({ ...change, name: pointer }, { state, settings });
    // What was typed stays; otherwise it begins with what is there.
    const untouched = change.text === "" || change.text === newChange(change.kind, "", now).text;
    const begin = newChange(change.kind, pointer, next);
    onChange({
      ...change,
      name: pointer,
      plain: next === undefined ? declaredText(state, pointer) : begin.plain,
      text: untouched ? begin.text : change.text,
    });
  };
  const label = settings.find(({ pointer }) => pointer === change.name)?.label ?? change.name;
  return (
    <div className="grid grid-cols-[100px_minmax(0,1fr)_minmax(0,1.4fr)_auto_auto] items-start gap-2 pl-14 max-[900px]:pl-0">
      <span className="truncate pt-1.5 text-xs text-text-2">{t(`whatIf.kind.${change.kind}`)}</span>
      {named ? (
        <Combobox
          choose
          aria-label={t(change.kind === "value" ? "whatIf.key" : "whatIf.setting")}
          placeholder={t(change.kind === "value" ? "whatIf.key" : "whatIf.settingHint")}
          value={change.kind === "setting" ? label : change.name}
          items={
            change.kind === "value"
              ? state.map(({ key, declared }) => ({ value: key, hint: declared }))
              : settings.map(({ label, value }) => ({ value: label, hint: preview(value, 20) }))
          }
          onChange={name}
          data-testid={change.kind === "value" ? whatIfIds.key : whatIfIds.setting}
        />
      ) : (
        <span />
      )}
      <div className="min-w-0">
        <TextArea
          mono={!change.plain}
          autoFocus={typed}
          onFocus={(event) => typed && event.currentTarget.select()}
          minRows={1}
          maxRows={8}
          aria-label={t("whatIf.newValue")}
          aria-invalid={invalid || undefined}
          placeholder={placeholder(change.kind)}
          value={change.text}
          onChange={(text) => onChange({ ...change, text })}
          data-testid={whatIfIds.value}
        />
        {named && change.name !== "" && (
          <p className={`truncate ${hintClass}`} title={preview(now, 400)}>
            {t("whatIf.now", { value: now === undefined ? t("whatIf.unset") : preview(now, 90) })}
          </p>
        )}
      </div>
      <Vary onVary={onVary} begin={change.plain && change.text.includes("\n") ? "" : change.text} />
      <IconButton size="small" className="mt-0.5" label={t("whatIf.removeChange")} onClick={onRemove}>
        <X size={13} aria-hidden />
      </IconButton>
    </div>
  );
}

const declaredText = (state: readonly KeyView[], name: string): boolean =>
  state.find(({ key }) => key === name)?.declared === "string";

const placeholder = (kind: ChangeKind): string =>
  kind === "model"
    ? t("whatIf.modelExample")
    : kind === "input"
      ? t("whatIf.inputExample")
      : t("whatIf.newValue");

/** Makes a row of each of several values. */
function Vary({ onVary, begin }: { onVary(values: readonly string[]): void; begin: string }) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const values = linesOf(text);
  return (
    <Popover
      label={t("whatIf.varyLabel")}
      align="end"
      className="w-72 p-3"
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        if (next) setText(begin === "" ? "" : `${begin}\n`);
      }}
      trigger={
        <Button
          size="small"
          variant="ghost"
          className="mt-0.5"
          icon={<ListPlus size={13} aria-hidden />}
          data-testid={whatIfIds.vary}
        >
          {t("whatIf.vary")}
        </Button>
      }
    >
      <div className="flex flex-col gap-2">
        <TextArea
          autoFocus
          mono
          minRows={4}
          aria-label={t("whatIf.varyLabel")}
          placeholder={t("whatIf.varyLabel")}
          value={text}
          onChange={setText}
          data-testid={whatIfIds.varyValues}
        />
        <p className={hintClass}>{t("whatIf.varyText")}</p>
        <Button
          size="small"
          variant="primary"
          disabled={values.length === 0}
          onClick={() => {
            setOpen(false);
            onVary(values);
          }}
          data-testid={whatIfIds.varyGo}
        >
          {tn("whatIf.varyGoOne", "whatIf.varyGo", values.length)}
        </Button>
      </div>
    </Popover>
  );
}
