/** The price of one model: asked for where a cost is incomplete, and in Settings. */
import { useEffect, useState } from "react";
import { Combobox, namesPart } from "../../components/Combobox";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { hintClass } from "../../components/recipes";
import { NumberField } from "../../components/NumberField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { ModelPrice } from "../../ipc/bindings/ModelPrice";
import { rpc } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { askPrice, pricesChanged, usePrices } from "../../state/prices";
import { showToast } from "../../state/toasts";

export function PriceDialog() {
  const asked = usePrices((prices) => prices.asked);
  useEffect(
    () =>
      registerCommands([
        {
          id: "prices.ask",
          title: t("prices.command"),
          group: t("forms.settings.group"),
          run: () => askPrice([]),
        },
      ]),
    [],
  );
  return asked === null ? null : <Form key={asked.models.join()} models={asked.models} price={asked.price} />;
}

const PARTS = ["input", "output", "cached"] as const;
type Part = (typeof PARTS)[number];

const close = (): void => usePrices.setState({ asked: null });

function Form({ models, price }: { models: readonly string[]; price: ModelPrice | undefined }) {
  const [model, setModel] = useState(price?.model ?? models[0] ?? "");
  const [parts, setParts] = useState<Partial<Record<Part, number | undefined>>>({
    input: price?.input,
    output: price?.output,
    cached: price?.cached,
  });
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const { input, output, cached } = parts;
  const isDone = model.trim() !== "" && input !== undefined && output !== undefined;
  const save = async () => {
    if (input === undefined || output === undefined) return;
    setBusy(true);
    try {
      await rpc("prices.set", {
        model: model.trim(),
        input,
        output,
        ...(cached !== undefined && { cached }),
        ...(price?.cacheWrite !== undefined && { cacheWrite: price.cacheWrite }),
      });
      close();
      pricesChanged();
      showToast({ tone: "done", text: t("prices.saved", { model: model.trim() }) });
    } catch (thrown) {
      setProblem(asProblem(thrown));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      onClose={close}
      title={t("prices.title")}
      save={t("prices.save")}
      isDone={isDone}
      busy={busy}
      onSave={() => void save()}
      className="gap-3"
      saveTestId={safetyIds.priceSave}
      data-testid={safetyIds.price}
    >
      <Field label={t("prices.model")}>
        <Combobox
          choose={namesPart(model)}
          value={model}
          disabled={price !== undefined}
          onChange={setModel}
          placeholder="my-server::llama3"
          items={models.map((value) => ({ value }))}
          data-testid={safetyIds.priceModel}
        />
      </Field>
      <div className="grid grid-cols-3 gap-2">
        {PARTS.map((part) => (
          <Field key={part} label={t(`prices.${part}`)}>
            <NumberField
              value={parts[part]}
              min={0}
              step={0.1}
              onChange={(value) => setParts({ ...parts, [part]: value })}
              data-testid={safetyIds.pricePart(part)}
            />
          </Field>
        ))}
      </div>
      <p className={hintClass}>{t("prices.help")}</p>
      {problem !== null && <ProblemNote problem={problem} />}
    </FormDialog>
  );
}
