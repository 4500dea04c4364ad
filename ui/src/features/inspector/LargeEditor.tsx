/**
 * A prompt, an expression or a program in a sheet over the window: the text on the left, the state that it sees on the
 * right, the node's test below. It edits the same field as the form, key by key.
 */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { memo, useEffect, useRef, useState } from "react";
import { CodeEditor, type CodeEditorHandle } from "../../components/CodeEditor";
import type { KeyInfo } from "../../components/code/jinja";
import { isError } from "../../components/Field";
import { InlineCode } from "../../components/InlineCode";
import { brief } from "../../components/schema-form/json";
import type { LargeEditorProps } from "../../components/schema-form/form";
import { iconButton, problemsClass } from "../../components/recipes";
import { useStable } from "../../components/stable";
import { rpc } from "../../ipc/client";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { NodeTest } from "../node-test";
import { LiveValue } from "./LiveValue";
import { useLastState } from "./last-state";

const SHOWN = 160;
/** Height of a line of the editor. */
const LINE = 18;

export function LargeEditor({
  node,
  title,
  mode,
  text,
  onChange,
  stateKeys,
  variables,
  readOnly,
  problems,
  onClose,
}: LargeEditorProps) {
  const editor = useRef<CodeEditorHandle>(null);
  const insert = useStable((name: string) => {
    editor.current?.insert(mode === "template" ? `{{ state.${name} }}` : `state.${name}`);
    editor.current?.focus();
  });
  const errors = problems.filter(isError);
  // The line with its value stays in view below it.
  const [lines] = useState(() => Math.max(8, Math.floor((window.innerHeight * 0.42) / LINE)));
  return (
    <Base.Root open onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-50 bg-shade" />
        <Base.Popup
          className="outline-none fixed z-51 inset-4 min-[1200px]:inset-x-[7vw] min-[1200px]:inset-y-[6vh] flex flex-col rounded-[10px] border border-line bg-surface-1 shadow-popup overflow-hidden"
          data-testid={formsIds.largeEditor}
        >
          <header className="flex items-center gap-2 h-11 shrink-0 pl-4 pr-2 border-b border-line">
            <Base.Title className="flex-1 min-w-0 truncate text-sm font-semibold">
              {node} <span className="font-normal text-text-2">· {title}</span>
            </Base.Title>
            <Base.Close className={iconButton("small")} aria-label={t("forms.close")}>
              <X size={15} aria-hidden />
            </Base.Close>
          </header>
          <div className="flex-1 min-h-0 grid grid-cols-[minmax(0,1fr)_clamp(220px,30%,400px)] grid-rows-[minmax(0,1fr)_auto]">
            <div className="row-span-1 min-h-0 overflow-y-auto p-3">
              <CodeEditor
                ref={editor}
                autoFocus
                mode={mode}
                lineNumbers={mode === "javascript" || mode === "python"}
                minLines={lines}
                maxLines={400}
                value={text}
                onChange={(next) => onChange(next === "" ? undefined : next)}
                keys={stateKeys}
                variables={variables}
                readOnly={readOnly}
                invalid={errors.length > 0}
                aria-label={title}
              />
              {(mode === "expression" || mode === "template") && (
                <LiveValue text={text} template={mode === "template"} valid={errors.length === 0} />
              )}
              {errors.length > 0 && (
                <ul className={problemsClass}>
                  {errors.map((problem) => (
                    <li key={problem.message}>
                      <InlineCode text={`${problem.message} ${problem.remedy ?? ""}`} />
                    </li>
                  ))}
                </ul>
              )}
            </div>
            <KeyList keys={stateKeys} readOnly={readOnly} insert={insert} />
            <div className="max-h-[38vh] overflow-y-auto border-t border-line px-4 py-2.5">
              <NodeTest nodeId={node} />
            </div>
          </div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface KeyListProps {
  keys: readonly KeyInfo[];
  readOnly: boolean;
  insert(name: string): void;
}

/** The state that the text sees, each key with a way to name it there. */
const KeyList = memo(function KeyList({ keys, readOnly, insert }: KeyListProps) {
  const values = useValues();
  const last = useLastState();
  return (
    <aside
      className="row-span-2 min-h-0 overflow-y-auto border-l border-line p-3"
      aria-label={t("forms.large.state")}
    >
      <h3 className="flex items-baseline justify-between gap-2 pb-2 text-xs font-semibold">
        {t("forms.large.state")}
        <span className="font-normal text-2xs text-text-3">{last?.label}</span>
      </h3>
      {keys.length === 0 && <p className="text-xs text-text-3">{t("forms.editor.noKeys")}</p>}
      <ul className="flex flex-col gap-0.5">
        {keys.map((key) => (
          <li key={key.name}>
            <button
              type="button"
              className="flex flex-col w-full min-w-0 py-1 px-1.5 rounded-md text-left hover:bg-surface-3 disabled:hover:bg-transparent"
              disabled={readOnly}
              title={t("forms.large.insert", { name: key.name })}
              onClick={() => insert(key.name)}
            >
              <span className="flex items-baseline justify-between gap-2">
                <span className="font-mono text-xs truncate">{key.name}</span>
                <span className="text-2xs text-text-3 shrink-0">{key.type}</span>
              </span>
              {values[key.name] !== undefined && (
                <span className="text-2xs/[15px] font-mono text-text-2 line-clamp-3 wrap-anywhere">
                  {values[key.name]}
                </span>
              )}
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
});

/** The last values of the state keys, in short. */
function useValues(): Readonly<Record<string, string>> {
  const last = useLastState();
  const [read, setRead] = useState<Readonly<Record<string, string>>>({});
  const at = last?.at;
  useEffect(() => {
    if (at === undefined) {
      setRead(
        Object.fromEntries(
          Object.entries(last?.state ?? {}).map(([name, value]) => [name, brief(value, SHOWN)]),
        ),
      );
      return;
    }
    const abort = new AbortController();
    rpc("thread.snapshot", at, abort.signal).then(
      ({ keys }) =>
        setRead(
          Object.fromEntries(
            keys.flatMap(({ key, value }) =>
              value === undefined
                ? []
                : [[key, value.value === undefined ? `${value.head ?? ""}…` : brief(value.value, SHOWN)]],
            ),
          ),
        ),
      () => setRead({}),
    );
    return () => abort.abort();
  }, [at, last?.state]);
  return read;
}
