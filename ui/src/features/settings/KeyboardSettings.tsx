/** Every shortcut: changed by pressing other keys, with what has them already said before it is taken over, and reset. */
import { Pencil, RotateCcw, Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { fuzzyFilter } from "../../components/fuzzy";
import { IconButton } from "../../components/IconButton";
import { Kbd, shortcutKeys } from "../../components/Kbd";
import { hintClass } from "../../components/recipes";
import { TextField } from "../../components/TextField";
import { formsIds } from "../../lib/testIds";
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { useCommands } from "../../state/commands";
import { isOwnKeys, isTaken, keysOf, sharing, shortcutOfEvent } from "../../state/keymap";
import { resetAllKeys, resetKeys, setKeys, useOwnKeys } from "../../state/custom-keys";

interface Row {
  readonly id: string;
  readonly title: string;
  readonly group: string;
}

export function KeyboardSettings() {
  const own = useOwnKeys();
  const [query, setQuery] = useState("");
  const [changing, setChanging] = useState<string | null>(null);
  const rows: Row[] = useCommands().map(({ id, title, group }) => ({ id, title, group }));
  const titles = new Map(rows.map(({ id, title }) => [id, title]));
  const found = fuzzyFilter(rows, query, (row) => [
    row.title,
    row.group,
    ...keysOf(row.id).flatMap((keys) => [keys, shortcutKeys(keys).join("+")]),
  ]);
  const groups = [...new Set(found.map((row) => row.group))];
  const changed = Object.keys(own).length;
  return (
    <div className="flex flex-col gap-3 pb-4" data-testid={formsIds.keyboard}>
      <p className={hintClass}>{t("keyboard.help")}</p>
      <div className="flex items-center gap-2">
        <TextField
          className="min-w-0 flex-1"
          prefix={<Search size={14} aria-hidden />}
          aria-label={t("keyboard.search")}
          placeholder={t("keyboard.search")}
          value={query}
          onChange={setQuery}
          data-testid={formsIds.keyboardSearch}
        />
        <Button
          size="small"
          icon={<RotateCcw size={13} aria-hidden />}
          disabled={changed === 0}
          onClick={resetAllKeys}
          data-testid={formsIds.keyboardResetAll}
        >
          {t("keyboard.resetAll")}
        </Button>
      </div>
      {found.length === 0 && <p className="text-xs text-text-2">{t("forms.command.none")}</p>}
      {groups.map((group) => (
        <section key={group}>
          <h3 className="pb-1 text-xs font-semibold text-text-2">{group}</h3>
          <ul>
            {found
              .filter((row) => row.group === group)
              .map((row) => (
                <ShortcutRow
                  key={row.id}
                  row={row}
                  titleOf={(id) => titles.get(id) ?? id}
                  changing={changing === row.id}
                  onChanging={(on) => setChanging(on ? row.id : null)}
                />
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function ShortcutRow({
  row: { id, title },
  titleOf,
  changing,
  onChanging,
}: {
  row: Row;
  titleOf(id: string): string;
  changing: boolean;
  onChanging(on: boolean): void;
}) {
  const keys = keysOf(id);
  return (
    <li
      className="group flex min-h-7.5 flex-wrap items-center gap-x-2 border-b border-line text-xs last:border-b-0"
      data-testid={formsIds.keyboardRow(id)}
    >
      <span className={cx("min-w-0 flex-1 truncate", isOwnKeys(id) && "font-semibold")} title={title}>
        {title}
      </span>
      {changing ? (
        <Recorder id={id} titleOf={titleOf} onDone={() => onChanging(false)} />
      ) : (
        <>
          <span className="flex gap-2">
            {keys.length === 0 && <span className="text-text-3">{t("keyboard.none")}</span>}
            {keys.map((each) => (
              <Kbd key={each} keys={each} />
            ))}
          </span>
          <span className="flex w-18 justify-end">
            {isOwnKeys(id) && (
              <IconButton
                size="small"
                label={t("keyboard.reset", { command: title })}
                onClick={() => resetKeys(id)}
                data-testid={formsIds.keyboardReset}
              >
                <RotateCcw size={13} aria-hidden />
              </IconButton>
            )}
            {keys.length > 0 && (
              <IconButton
                size="small"
                label={t("keyboard.remove", { command: title })}
                onClick={() => setKeys(id, [])}
                data-testid={formsIds.keyboardRemove}
              >
                <X size={13} aria-hidden />
              </IconButton>
            )}
            <IconButton
              size="small"
              label={t("keyboard.change", { command: title })}
              onClick={() => onChanging(true)}
              data-testid={formsIds.keyboardChange}
            >
              <Pencil size={13} aria-hidden />
            </IconButton>
          </span>
        </>
      )}
    </li>
  );
}

/** Takes the next keys that are pressed, all but Tab and Escape, and asks before they are taken from another command. */
function Recorder({ id, titleOf, onDone }: { id: string; titleOf(id: string): string; onDone(): void }) {
  const [pressed, setPressed] = useState<string | null>(null);
  const box = useRef<HTMLSpanElement>(null);
  useEffect(() => box.current?.focus(), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const at = event.target;
      // The buttons of this row are reached and pressed by keys, too.
      if (event.key === "Tab" || (at instanceof HTMLButtonElement && box.current?.contains(at))) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (event.key === "Escape") return onDone();
      const keys = shortcutOfEvent(event);
      if (keys === null) return;
      if (!isTaken(keys) && sharing(id, keys).length === 0) {
        setKeys(id, [keys]);
        onDone();
      } else setPressed(keys);
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [id, onDone]);
  const others = pressed === null ? [] : sharing(id, pressed);
  return (
    <span
      ref={box}
      tabIndex={-1}
      className="flex min-w-0 flex-wrap items-center justify-end gap-2 py-1 outline-none"
      role="group"
      aria-label={t("keyboard.press")}
      data-testid={formsIds.keyboardRecorder}
    >
      {pressed === null ? (
        <span className="text-accent-text">{t("keyboard.press")}</span>
      ) : (
        <>
          <Kbd keys={pressed} />
          <span role="alert" className="text-asking">
            {isTaken(pressed)
              ? t("keyboard.reserved")
              : t("keyboard.conflict", { commands: listed(others.map(titleOf)) })}
          </span>
          {!isTaken(pressed) && (
            <Button
              size="small"
              onClick={() => {
                setKeys(id, [pressed]);
                onDone();
              }}
              data-testid={formsIds.keyboardTake}
            >
              {t("keyboard.take")}
            </Button>
          )}
        </>
      )}
      <Button size="small" variant="ghost" onClick={onDone}>
        {t("forms.cancel")}
      </Button>
    </span>
  );
}
