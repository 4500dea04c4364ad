/** One item of long-term memory: its value as JSON, saved when asked to and never over somebody else's change. */
import { Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { JsonEditor } from "../../components/JsonEditor";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { useNow } from "../../debugger/parts/useNow";
import { sameJson, type Json } from "../../components/schema-form/json";
import type { ItemView } from "../../ipc/bindings/ItemView";
import { useOffOnlyRead } from "../../debugger/model/only-read";
import { rpc } from "../../ipc/client";
import { fullTime, when } from "../../lib/intl";
import { memoryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showProblem, showToast } from "../../state/toasts";
import { useAnswer } from "../../debugger/model/useAnswer";
import { ItemUses } from "./ItemUses";
import { placeOf, placeText } from "./namespaces";

interface Props {
  /** `null` for a new one. */
  item: ItemView | null;
  /** Where a new one is proposed to be. */
  namespace: readonly string[];
  /** Whether there are changes that are not saved; `false` when the form goes. */
  onChanged(changed: boolean): void;
  onSaved(item: ItemView): void;
  onRemoved(): void;
  /** A removed item is there again. */
  onPutBack(): void;
  /** A step that used it was opened. */
  onOpened(): void;
}

export function ItemForm({ item, onSaved, ...rest }: Props) {
  const read = useAnswer(item === null ? null : `${item.updatedAt}`, (signal) =>
    rpc("store.get", { namespace: item?.namespace ?? [], key: item?.key ?? "" }, signal),
  );
  const [saved, setSaved] = useState<{ item: ItemView; form: string } | null>(null);
  if (item === null) return <Form {...rest} onSaved={onSaved} item={null} />;
  // What was saved here stays in its form, with what is typed meanwhile, until a later state is chosen or asked for.
  const own = saved !== null && saved.item.updatedAt >= item.updatedAt ? saved : null;
  const shown = own?.item ?? read.value;
  if (read.problem && !own) return <ProblemNote problem={read.problem} onRetry={read.again} />;
  if (!shown) return <Spinner label={t("storage.loading")} />;
  const form = own?.form ?? shown.updatedAt;
  const keep = (next: ItemView) => {
    setSaved({ item: next, form });
    onSaved(next);
  };
  const reload = () => {
    setSaved(null);
    read.again();
  };
  return <Form {...rest} onSaved={keep} key={form} item={shown} onReload={reload} />;
}

const isObject = (value: Json): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function Form({
  item,
  namespace,
  onChanged,
  onSaved,
  onRemoved,
  onPutBack,
  onOpened,
  onReload,
}: Props & { onReload?: () => void }) {
  const before: Json = item === null ? {} : item.value.value;
  const [value, setValue] = useState<Json>(before);
  const [valid, setValid] = useState(true);
  /** Text that is no JSON has not reached the value, so only another editor is rid of it. */
  const [editor, setEditor] = useState(0);
  const [place, setPlace] = useState(() => placeText(item?.namespace ?? namespace));
  const [key, setKey] = useState(item?.key ?? "");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const changed = !valid || !sameJson(value, before) || (item === null && key !== "");
  const notify = useRef(onChanged);
  notify.current = onChanged;
  useEffect(() => {
    notify.current(changed);
    return () => notify.current(false);
  }, [changed]);

  const labels = item?.namespace ?? placeOf(place);
  const off = useOffOnlyRead();
  const ready = off === null && changed && valid && isObject(value) && key.trim() !== "" && labels.length > 0;
  const save = async () => {
    if (!ready) return;
    setBusy(true);
    setProblem(null);
    try {
      const replaces = item === null ? {} : { replaces: item.updatedAt };
      const saved = await rpc("store.put", {
        namespace: labels,
        key: item?.key ?? key.trim(),
        value,
        ...replaces,
      });
      showToast({ tone: "done", text: t("memory.saved", { key: saved.key }) });
      onSaved(saved);
      setBusy(false);
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  const revert = () => {
    setValue(before);
    setValid(true);
    setEditor((now) => now + 1);
  };
  const remove = async () => {
    if (item === null) return;
    setBusy(true);
    try {
      await rpc("store.delete", { namespace: item.namespace, key: item.key });
      const back = () => {
        rpc("store.put", { namespace: item.namespace, key: item.key, value: item.value.value })
          .then(onPutBack)
          .catch(showProblem);
      };
      showToast({
        tone: "done",
        text: t("memory.removed", { key: item.key }),
        action: { label: t("memory.undo"), run: back },
      });
      onRemoved();
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  const now = useNow(15_000);
  return (
    <form
      className="flex flex-col gap-2.5"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {item === null ? (
        <>
          <Field label={t("memory.place")} description={t("memory.placeHelp")}>
            <TextField value={place} onChange={setPlace} data-testid={memoryIds.place} />
          </Field>
          <Field label={t("memory.key")} description={t("memory.keyHelp")}>
            <TextField value={key} onChange={setKey} data-testid={memoryIds.key} />
          </Field>
        </>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)_auto] gap-y-0.5 gap-x-3 wrap-anywhere text-xs/inherit text-text-2 [&_strong]:text-sm/inherit select-text">
          <strong>{item.key}</strong>
          <span>{placeText(item.namespace)}</span>
          <span title={fullTime(item.updatedAt)}>
            {t("memory.updated", { when: when(item.updatedAt, now) })}
          </span>
          <span title={fullTime(item.createdAt)}>
            {t("memory.created", { when: when(item.createdAt, now) })}
          </span>
          {item.expiresAt !== undefined && (
            <span>{t("memory.expires", { when: fullTime(item.expiresAt) })}</span>
          )}
        </div>
      )}
      <JsonEditor
        key={editor}
        aria-label={t("memory.value")}
        value={value}
        onChange={setValue}
        onValidity={setValid}
        minLines={6}
        maxLines={16}
        data-testid={memoryIds.value}
      />
      {valid && !isObject(value) && (
        <p className="text-xs text-failed" role="alert">
          {t("memory.object")}
        </p>
      )}
      {problem && <ProblemNote problem={problem} {...(onReload && { onRetry: onReload })} />}
      <footer className="flex justify-end gap-2 [&>:first-child:not(:last-child)]:mr-auto">
        {item !== null && (
          <Button
            variant="ghost"
            icon={<Trash2 size={14} aria-hidden />}
            onClick={() => void remove()}
            disabled={busy || off !== null}
            title={off ?? undefined}
            data-testid={memoryIds.remove}
          >
            {t("memory.remove")}
          </Button>
        )}
        {item !== null && changed && (
          <Button onClick={revert} disabled={busy}>
            {t("memory.revert")}
          </Button>
        )}
        <Button
          type="submit"
          variant="primary"
          disabled={!ready}
          title={off ?? undefined}
          busy={busy}
          data-testid={memoryIds.save}
        >
          {t(item === null ? "memory.add" : "memory.save")}
        </Button>
      </footer>
      {item !== null && <ItemUses item={item} onOpened={onOpened} />}
    </form>
  );
}
