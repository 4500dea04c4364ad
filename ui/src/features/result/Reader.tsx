/** A value over the main area, large enough to be read: as Markdown, as it is written, as JSON or as a table; with a search. */
import { ChevronDown, ChevronUp, Search, X } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type RefObject } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { Tabs } from "../../components/Tabs";
import { TextField } from "../../components/TextField";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { json, Pre } from "../../debugger/parts/Pre";
import { findRanges } from "../../debugger/result/find";
import { useReader } from "../../debugger/result/reader";
import { shapeOf } from "../../debugger/result/result";
import { loadValue } from "../../debugger/state/values";
import { useKeyValue } from "../../debugger/state/useKeyValue";
import { bytes, count } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { ResultValue } from "./ResultValue";

export function Reader() {
  const open = useReader((reader) => reader.open);
  const threadId = useSession((session) => session.cursor.threadId);
  const use = useSession((session) => session.use);
  const here = open && open.loaded.place.threadId === threadId && use === "debug";
  // Another thread, another reading.
  useEffect(() => {
    if (open && !here) useReader.getState().close();
  }, [open, here]);
  return here ? <Open key={`${open.view.key}`} {...open} /> : null;
}

type Look = "value" | "raw" | "json";

function Open({ loaded, view }: NonNullable<ReturnType<typeof useReader.getState>["open"]>) {
  const { value, complete, loading, problem } = useKeyValue(loaded, view);
  const shape = useMemo(
    () => (value === undefined ? undefined : shapeOf(value, view.reducer)),
    [value, view.reducer],
  );
  const [chosen, setLook] = useState<Look>("value");
  const looks: readonly (readonly [Look, string])[] =
    shape?.type === "text"
      ? [
          ["value", t("reader.markdown")],
          ["raw", t("reader.raw")],
          ["json", t("reader.json")],
        ]
      : shape?.type === "json"
        ? [["json", t("reader.json")]]
        : [
            ["value", t(shape?.type === "table" ? "reader.table" : "reader.value")],
            ["json", t("reader.json")],
          ];
  const look = looks.some(([id]) => id === chosen) ? chosen : (looks[0]?.[0] ?? "json");
  const body = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  const close = useReader.getState().close;
  const text = () => (typeof value === "string" && look !== "json" ? value : json(value));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    else if (event.key === "f" && (event.ctrlKey || event.metaKey)) field.current?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const have = typeof value === "string" || Array.isArray(value) ? value.length : 0;
  return (
    <section
      ref={box}
      tabIndex={-1}
      className="absolute inset-0 z-30 flex flex-col bg-surface-1 outline-none"
      aria-label={t("reader.title")}
      onKeyDown={onKeyDown}
      data-testid={debugIds.reader}
    >
      <header className="flex h-11 shrink-0 items-center gap-3 border-b border-line pr-2 pl-4">
        <h2 className="min-w-16 truncate font-mono text-sm font-semibold">{view.key}</h2>
        <span className="shrink-0 text-2xs text-text-2">{bytes(view.value?.bytes ?? 0)}</span>
        {looks.length > 1 && (
          <Tabs
            look="segmented"
            label={t("reader.view")}
            value={look}
            onChange={(next) => setLook(next as Look)}
            tabs={looks.map(([id, label]) => ({ id, label }))}
          />
        )}
        <span className="flex-1" />
        <Find body={body} field={field} changed={`${look}/${have}`} />
        <CopyButton text={text} label={t("debug.copyValue")} size={14} />
        <IconButton size="small" label={t("reader.close")} shortcut="Esc" onClick={close}>
          <X size={15} aria-hidden />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={0} aria-label={view.key}>
        <div
          ref={body}
          className={`mx-auto px-6 py-5 ${look === "value" && shape?.type !== "table" ? "max-w-[80ch] [&_.markdown]:text-sm [&_.markdown]:leading-5.5 [&_.markdown]:text-text" : ""}`}
          data-testid={debugIds.readerText}
          data-look={look}
        >
          {shape === undefined ? (
            <p className="text-xs text-text-2">{problem ?? t("debug.loading")}</p>
          ) : look === "value" ? (
            <ResultValue shape={shape} whole size={0} />
          ) : (
            <Pre height="whole">{look === "raw" && typeof value === "string" ? value : json(value)}</Pre>
          )}
        </div>
        {!complete && value !== undefined && (
          <p className="flex items-center gap-2 border-t border-line px-6 py-3 text-xs text-text-2">
            {t("result.part", { shown: count(have), total: count(view.value?.length ?? have) })}
            <Button
              size="small"
              busy={loading}
              onClick={() => void loadValue(loaded.place, loaded.view, view)}
            >
              {t("result.loadMore")}
            </Button>
          </p>
        )}
      </div>
    </section>
  );
}

const MARKS = "find";

/** All matches are marked where the browser can; the one that is looked at is the selection. */
function Find({
  body,
  field,
  changed,
}: {
  body: RefObject<HTMLDivElement | null>;
  field: RefObject<HTMLInputElement | null>;
  /** Differs when what is shown does. */
  changed: string;
}) {
  const [words, setWords] = useState("");
  const [matches, setMatches] = useState<readonly Range[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    // What is shown is drawn first.
    const timer = setTimeout(() => {
      const found = body.current ? findRanges(body.current, words) : [];
      setMatches(found);
      setAt(0);
      if ("highlights" in CSS) CSS.highlights.set(MARKS, new Highlight(...found));
    }, 80);
    return () => clearTimeout(timer);
  }, [body, words, changed]);
  useEffect(
    () => () => {
      if ("highlights" in CSS) CSS.highlights.delete(MARKS);
    },
    [],
  );
  useEffect(() => {
    const range = matches[at];
    if (!range) return;
    const selection = window.getSelection();
    selection?.removeAllRanges();
    selection?.addRange(range);
    range.startContainer.parentElement?.scrollIntoView({ block: "nearest" });
    const scroller = body.current?.parentElement;
    const box = range.getBoundingClientRect();
    const seen = scroller?.getBoundingClientRect();
    if (scroller && seen && (box.top < seen.top || box.bottom > seen.bottom))
      scroller.scrollTop += box.top - seen.top - seen.height / 3;
  }, [body, matches, at]);
  const go = (by: number) => setAt((now) => (matches.length + now + by) % Math.max(1, matches.length));
  return (
    <>
      <div className="w-56 min-w-24">
        <TextField
          ref={field}
          value={words}
          onChange={setWords}
          placeholder={t("reader.find")}
          aria-label={t("reader.find")}
          data-testid={debugIds.readerFind}
          prefix={<Search size={13} aria-hidden />}
          onKeyDown={(event) => {
            if (event.key !== "Enter") return;
            event.preventDefault();
            go(event.shiftKey ? -1 : 1);
          }}
          {...(words !== "" && {
            suffix: (
              <span
                className="shrink-0 text-2xs text-text-2 tabular-nums"
                role="status"
                data-testid={debugIds.readerMatches}
              >
                {matches.length === 0
                  ? t("reader.noMatch")
                  : t("reader.matches", { at: at + 1, n: matches.length })}
              </span>
            ),
          })}
        />
      </div>
      <span className="-ml-2 inline-flex">
        <IconButton
          size="small"
          label={t("reader.previous")}
          disabled={matches.length === 0}
          onClick={() => go(-1)}
        >
          <ChevronUp size={14} aria-hidden />
        </IconButton>
        <IconButton
          size="small"
          label={t("reader.next")}
          disabled={matches.length === 0}
          onClick={() => go(1)}
        >
          <ChevronDown size={14} aria-hidden />
        </IconButton>
      </span>
    </>
  );
}
