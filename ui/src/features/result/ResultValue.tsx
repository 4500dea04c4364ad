/** A value in the shape in which a person reads it. In short it takes twelve lines; whole, all of its height. */
import { Download, FileText } from "lucide-react";
import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Button } from "../../components/Button";
import { Markdown } from "../../components/Markdown";
import { preview } from "../../debugger/parts/format";
import { json, Pre } from "../../debugger/parts/Pre";
import { lastTurn, type Shape } from "../../debugger/result/result";
import { Conversation } from "../../debugger/state/Conversation";
import { bytes } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

/** Rows of a table, items of a list before "Show all". */
const SHORT_ROWS = 12;

interface Props {
  readonly shape: Shape;
  /** All of it, however long. */
  readonly whole?: boolean;
  /** Bytes of the value, for "Show all". */
  readonly size: number;
  /** Says in place of "Show all" how the rest is seen. */
  onAll?(): void;
}

export function ResultValue({ shape, whole = false, size, onAll }: Props) {
  const all = { size, ...(onAll && { onAll }) };
  switch (shape.type) {
    case "text":
      return shape.text === "" ? (
        <p className="text-xs text-text-3">{t("result.emptyText")}</p>
      ) : whole ? (
        <Markdown text={shape.text} />
      ) : (
        <Clamp {...all}>
          <Markdown text={shape.text} />
        </Clamp>
      );
    case "messages":
      return <Messages messages={shape.messages} whole={whole} />;
    case "image":
      return (
        <img
          src={shape.url}
          alt={t("result.image")}
          className={`rounded-md border border-line object-contain ${whole ? "max-w-full" : "max-h-80 max-w-full"}`}
        />
      );
    case "file":
      return (
        <div className="flex items-center gap-2 rounded-md border border-line bg-surface-2 px-2 py-1.5 text-xs">
          <FileText size={16} className="shrink-0 text-text-3" aria-hidden />
          <span className="min-w-0 flex-1 truncate">
            {shape.file.name ?? t("result.file")}
            <span className="text-text-2">{` · ${shape.file.mime} · ${bytes(shape.file.bytes)}`}</span>
          </span>
          <a
            className="inline-flex h-6 items-center gap-1.5 rounded-md border border-line-strong px-2 font-medium hover:bg-surface-3"
            href={shape.file.url}
            download={shape.file.name ?? "file"}
          >
            <Download size={14} aria-hidden />
            {t("result.download")}
          </a>
        </div>
      );
    case "table":
      return <Table shape={shape} whole={whole} {...all} />;
    case "list":
      return <List items={shape.items} whole={whole} {...all} />;
    case "several":
      return (
        <div className="flex flex-col gap-2">
          {shape.shapes.map((each, at) => (
            <ResultValue key={at} shape={each} whole={whole} size={0} />
          ))}
        </div>
      );
    case "fields":
      return (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-xs">
          {shape.fields.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="font-mono text-text-2">{name}</dt>
              <dd className="select-text whitespace-pre-wrap wrap-anywhere">{cell(value)}</dd>
            </div>
          ))}
        </dl>
      );
    case "scalar":
      return <p className="select-text font-mono text-base font-semibold tabular-nums">{shape.text}</p>;
    case "json":
      return whole ? (
        <Pre height="whole">{json(shape.value)}</Pre>
      ) : (
        <Clamp {...all}>
          <Pre height="whole">{json(shape.value)}</Pre>
        </Clamp>
      );
  }
}

const cell = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : preview(value, 200);

const allText = (size: number): string => t("result.showAll", { size: bytes(size) });

/** Twelve lines; what is longer says so and opens. */
function Clamp({ size, onAll, children }: { size: number; onAll?(): void; children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [longer, setLonger] = useState(false);
  const [open, setOpen] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setLonger(element.scrollHeight > element.clientHeight + 1);
    look();
    // Words wrap otherwise when the panel is resized.
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, [children]);
  return (
    <>
      <div ref={box} className={open ? "" : "max-h-54 overflow-hidden"}>
        {children}
      </div>
      {(longer || open) && (
        <More onClick={() => (open ? setOpen(false) : onAll ? onAll() : setOpen(true))}>
          {open ? t("result.showLess") : allText(size)}
        </More>
      )}
    </>
  );
}

function More({ onClick, children }: { onClick(): void; children: ReactNode }) {
  return (
    <Button
      size="small"
      variant="ghost"
      className="mt-1 -ml-2"
      onClick={onClick}
      data-testid={debugIds.resultMore}
    >
      {children}
    </Button>
  );
}

type TableShape = Extract<Shape, { type: "table" }>;

function Table({
  shape,
  whole,
  size,
  onAll,
}: {
  shape: TableShape;
  whole: boolean;
  size: number;
  onAll?(): void;
}) {
  const [open, setOpen] = useState(false);
  const rows = whole || open ? shape.rows : shape.rows.slice(0, SHORT_ROWS);
  const head = "sticky top-0 bg-surface-2 px-2 py-1 text-left font-semibold whitespace-nowrap";
  return (
    <>
      <div className="overflow-x-auto rounded-md border border-line bg-surface-1">
        <table className="w-full border-collapse text-xs">
          <thead>
            <tr className="border-b border-line">
              {shape.columns.map((column) => (
                <th key={column} scope="col" className={head}>
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at} className="not-first:border-t not-first:border-line">
                {shape.columns.map((column) => (
                  <td key={column} className="select-text px-2 py-1 align-top tabular-nums">
                    <div className={whole ? "whitespace-pre-wrap wrap-anywhere" : "line-clamp-3 min-w-16"}>
                      {cell(row[column])}
                    </div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!whole && shape.rows.length > SHORT_ROWS && !open && (
        <More onClick={onAll ?? (() => setOpen(true))}>
          {`${tn("result.rowsOne", "result.rows", shape.rows.length)} · ${allText(size)}`}
        </More>
      )}
    </>
  );
}

function List({
  items,
  whole,
  size,
  onAll,
}: {
  items: readonly (string | number | boolean | null)[];
  whole: boolean;
  size: number;
  onAll?(): void;
}) {
  const [open, setOpen] = useState(false);
  const shown = whole || open ? items : items.slice(0, SHORT_ROWS);
  return (
    <>
      <ol className="flex list-decimal flex-col gap-0.5 pl-6 text-xs marker:text-text-3">
        {shown.map((item, at) => (
          <li key={at} className="select-text whitespace-pre-wrap wrap-anywhere">
            {cell(item)}
          </li>
        ))}
      </ol>
      {shown.length < items.length && <More onClick={onAll ?? (() => setOpen(true))}>{allText(size)}</More>}
    </>
  );
}

/** The last turn; what came before is one press away. */
function Messages({ messages, whole }: { messages: readonly unknown[]; whole: boolean }) {
  const [open, setOpen] = useState(false);
  const from = whole || open ? 0 : lastTurn(messages);
  return (
    <div className="-mx-3">
      {from > 0 && (
        <div className="px-3">
          <More onClick={() => setOpen(true)}>{tn("result.earlierOne", "result.earlier", from)}</More>
        </div>
      )}
      <Conversation messages={messages.slice(from)} fresh={0} />
    </div>
  );
}
