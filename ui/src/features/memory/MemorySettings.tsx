/** How long-term memory is searched and how long it keeps items. A model is asked once before it is taken. */
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Combobox, namesPart } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { MemorySettings as Memory } from "../../ipc/bindings/MemorySettings";
import { rpc } from "../../ipc/client";
import { memoryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showToast } from "../../state/toasts";
import { OutdatedLine } from "./OutdatedLine";
import { useReembedding } from "./reembedding";
import { isComplete, memoryOf, NGRAMS, sameMemory, shapeOf, type Shape, UNITS } from "./settings";
import { hintClass, settingsPartClass, storageActionsClass } from "../../components/recipes";
import { cx } from "../../components/cx";

const WAYS = ["words", "spelling", "model"] as const satisfies readonly Shape["way"][];

export function MemorySettings() {
  const kept = useSession((session) => session.appInfo?.settings.memory);
  return <MemoryForm key={JSON.stringify(kept ?? null)} kept={kept} />;
}

function MemoryForm({ kept }: { kept: Memory | undefined }) {
  const takeSettings = useSession((session) => session.takeSettings);
  const [shape, setShape] = useState<Shape>(() => shapeOf(kept));
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const change = (next: Partial<Shape>) => {
    setShape({ ...shape, ...next });
    setProblem(null);
  };
  const wanted = memoryOf(shape);
  const changed = !sameMemory(wanted, kept);
  const apply = async () => {
    const settings = useSession.getState().appInfo?.settings;
    if (!settings) return;
    setBusy(true);
    setProblem(null);
    try {
      takeSettings(await rpc("settings.set", { ...settings, memory: wanted }));
      useReembedding.setState({ outdated: null, problem: null });
      showToast({ tone: "done", text: t("memory.settings.applied") });
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className={settingsPartClass}
      onSubmit={(event) => {
        event.preventDefault();
        if (changed && isComplete(shape) && !busy) void apply();
      }}
      data-testid={memoryIds.settings}
    >
      <h3>{t("memory.title")}</h3>
      <p className={hintClass}>{t("memory.settings.text")}</p>
      <Field label={t("memory.settings.way")} description={t(`memory.settings.${shape.way}Help`)}>
        <Select
          value={shape.way}
          options={WAYS.map((value) => ({ value, label: t(`memory.settings.${value}`) }))}
          onChange={(way) => change({ way })}
          data-testid={memoryIds.way}
        />
      </Field>
      {shape.way === "model" && <Model value={shape.model} onChange={(model) => change({ model })} />}
      {kept?.embedding !== undefined && kept.embedding !== NGRAMS && kept.dims !== undefined && (
        <p className={cx(hintClass, "select-text")}>
          {t("memory.settings.uses", { model: kept.embedding, n: kept.dims })}
        </p>
      )}
      {wanted.embedding === kept?.embedding ? (
        <OutdatedLine />
      ) : (
        <p
          className="text-xs/[17px] text-text-2 border-l-2 border-line-strong pl-2 text-pretty"
          role="status"
          data-testid={memoryIds.wayChanges}
        >
          {t(wanted.embedding === undefined ? "memory.settings.toWords" : "memory.settings.toVectors")}
        </p>
      )}
      <Field label={t("memory.settings.ttl")} description={t("memory.settings.ttlHelp")}>
        <span className="flex items-center gap-2 max-w-45">
          <NumberField
            integer
            min={1}
            value={shape.time}
            onChange={(time) => change({ time })}
            placeholder={t("memory.settings.never")}
            data-testid={memoryIds.ttl}
          />
          <Select
            aria-label={t("memory.settings.unit")}
            value={shape.unit}
            options={UNITS.map((value) => ({ value, label: t(`memory.settings.${value}`) }))}
            onChange={(unit) => change({ unit })}
            data-testid={memoryIds.unit}
          />
        </span>
      </Field>
      <Field
        label={t("memory.settings.refresh")}
        description={t("memory.settings.refreshHelp")}
        layout="switch"
      >
        <Switch
          checked={shape.refresh}
          onChange={(refresh) => change({ refresh })}
          data-testid={memoryIds.refresh}
        />
      </Field>
      {problem && <ProblemNote problem={problem} />}
      <div className={storageActionsClass}>
        <Button
          type="submit"
          variant="primary"
          disabled={!changed || !isComplete(shape)}
          busy={busy}
          data-testid={memoryIds.apply}
        >
          {t("memory.settings.apply")}
        </Button>
        {changed && <Button onClick={() => setShape(shapeOf(kept))}>{t("memory.revert")}</Button>}
      </div>
      <p className={hintClass}>{t("memory.settings.retrieve")}</p>
    </form>
  );
}

function Model({ value, onChange }: { value: string; onChange(model: string): void }) {
  const [connections, setConnections] = useState<{ value: string; hint: string }[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    rpc("connections.list", {}, abort.signal).then(
      (list) =>
        setConnections(
          list.connections.map(({ name, provider }) => ({ value: `${name}::`, hint: provider })),
        ),
      () => {
        // A name can be written all the same; whether there is such a model is reported when it is asked.
      },
    );
    return () => abort.abort();
  }, []);
  return (
    <Field label={t("memory.settings.name")} description={t("memory.settings.nameHelp")}>
      <Combobox
        mono
        choose={namesPart(value)}
        value={value}
        items={connections}
        placeholder="ollama::nomic-embed-text"
        onChange={onChange}
        data-testid={memoryIds.model}
      />
    </Field>
  );
}
