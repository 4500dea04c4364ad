/**
 * Before a run goes on from the past: which nodes would work on the world outside again, and what happens with each. The
 * choices begin with those that repeat nothing; nothing that is chosen here is kept for the next time.
 */
import { Globe, RotateCw, TriangleAlert } from "lucide-react";
import { useId, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import {
  chosen,
  type Choices,
  decideEffects,
  defaultChoices,
  effectKey,
  type EffectsAsked,
  type Going,
  optionsOf,
  useEffectsAsked,
} from "../../debugger/run/effects";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { preview } from "../../debugger/parts/format";
import { useNow } from "../../debugger/parts/useNow";
import type { EffectChoice } from "../../ipc/bindings/EffectChoice";
import type { EffectView } from "../../ipc/bindings/EffectView";
import { fullTime, listed, when } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t, tn, type TextKey } from "../../lib/texts";
import { CHOICES, declaredText, effectsText } from "./report";

export function EffectsDialog() {
  const asked = useEffectsAsked((store) => store.asked);
  return asked === null ? null : <Asked key={asked.list.effects.map(effectKey).join()} asked={asked} />;
}

const VERBS: Record<Going, TextKey> = {
  replay: "debug.replay",
  continue: "debug.continue",
  run: "debug.run",
  answer: "debug.answer",
};

function Asked({ asked }: { asked: EffectsAsked }) {
  const { going, step, list } = asked;
  const { effects, questionsLeft } = list;
  const [choices, setChoices] = useState<Choices>(() => defaultChoices(effects));
  const confirm = useRef<HTMLButtonElement>(null);
  const again = chosen(effects, choices, "again");
  const verb = t(VERBS[going]);
  const grave = again.some((effect) => effect.effect === "once");
  return (
    <Dialog
      open
      onClose={() => decideEffects(null)}
      title={t(`debug.effects.title.${going}`, { step: step ?? t("debug.effects.unknownStep") })}
      description={t("debug.effects.text")}
      size="medium"
      initialFocus={confirm}
      data-testid={debugIds.effects}
      actions={
        <>
          <Button onClick={() => decideEffects(null)}>{t("debug.cancel")}</Button>
          <Button
            ref={confirm}
            variant={grave ? "danger" : "primary"}
            onClick={() => decideEffects(choices)}
            data-testid={debugIds.effectsGo}
          >
            {again.length === 0
              ? t("debug.effects.go.nothing", { verb })
              : tn("debug.effects.go.one", "debug.effects.go.many", again.length, { verb })}
          </Button>
          {/* At the left, and last: a tooltip of what is focused first would take the first Escape. */}
          <span className="order-first mr-auto">
            <CopyAnswer text={() => effectsText(asked, choices)} />
          </span>
        </>
      }
    >
      <ul className="flex flex-col rounded-md bg-surface-2">
        {effects.map((effect) => (
          <Row
            key={effectKey(effect)}
            effect={effect}
            choice={choices[effectKey(effect)] ?? "stop"}
            onChoose={(choice) => setChoices({ ...choices, [effectKey(effect)]: choice })}
          />
        ))}
      </ul>
      <div className="flex flex-col gap-1 pt-2.5 px-0.5 text-xs/4.5 text-text-2">
        <Will effects={effects} choices={choices} />
        {effects.some((effect) => effect.effect === undefined) && <p>{t("debug.effects.sayEffect")}</p>}
        {questionsLeft > 0 && (
          <p data-testid={debugIds.effectsLeft}>
            {tn("debug.effects.leftOne", "debug.effects.left", questionsLeft)}
          </p>
        )}
      </div>
    </Dialog>
  );
}

/** What the choices come to, apart from results that are used. */
function Will({ effects, choices }: { effects: readonly EffectView[]; choices: Choices }) {
  const line = (choice: EffectChoice, text: TextKey) => {
    const nodes = chosen(effects, choices, choice).map((effect) => effect.node);
    return nodes.length > 0 ? [t(text, { nodes: listed(nodes) })] : [];
  };
  const lines = [
    ...line("again", "debug.effects.will.again"),
    ...line("stop", "debug.effects.will.stop"),
    ...line("ask", "debug.effects.will.ask"),
  ];
  return (
    <p role="status" className="text-text font-medium" hidden={lines.length === 0}>
      {lines.join(" ")}
    </p>
  );
}

function lookOf(effect: EffectView): { icon: typeof Globe; tone: string } {
  if (effect.effect === "once") return { icon: TriangleAlert, tone: "asking" };
  if (effect.effect === "idempotent") return { icon: RotateCw, tone: "running" };
  return { icon: Globe, tone: "quiet" };
}

function Row({
  effect,
  choice,
  onChoose,
}: {
  effect: EffectView;
  choice: EffectChoice;
  onChoose(choice: EffectChoice): void;
}) {
  const name = useId();
  const { icon: Icon, tone } = lookOf(effect);
  const now = useNow(60_000);
  const time = when(effect.lastAt, now);
  const result = shortened(effect);
  return (
    <li
      className="flex gap-2.5 py-2.5 px-3 [&+&]:border-t [&+&]:border-line"
      data-testid={debugIds.effect}
      data-node={effect.node}
    >
      <Icon
        size={16}
        className="mt-0.5 shrink-0 text-text-3 data-[tone=asking]:text-asking data-[tone=running]:text-running"
        data-tone={tone}
        aria-hidden
      />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-2 text-sm [&_strong]:font-semibold [&_strong]:wrap-anywhere">
          <strong>{effect.node}</strong>
          {effect.times > 1 && (
            <span className="tabular-nums" title={t("debug.effects.times", { n: effect.times })}>
              ×{effect.times}
            </span>
          )}
          {effect.path.length > 0 && (
            <span className="text-xs/inherit text-text-2">
              {t("debug.effects.inside", { path: effect.path.join(" › ") })}
            </span>
          )}
          <span className="ml-auto text-2xs/inherit text-text-3">{effect.kind}</span>
        </p>
        <p className="text-xs/4.5 text-text-2 **:data-[tone=failed]:text-failed">
          {declaredText(effect)} ·{" "}
          <span
            className="tabular-nums"
            data-tone={effect.state === "done" ? undefined : "failed"}
            title={fullTime(effect.lastAt)}
          >
            {t(`debug.effects.state.${effect.state}`, { time })}
          </span>
        </p>
        {result === undefined ? (
          !effect.reusable && (
            <p className="text-xs/4.5 text-text-2 **:data-[tone=failed]:text-failed">
              {t("debug.effects.noResult")}
            </p>
          )
        ) : (
          <p
            className="mt-1 line-clamp-2 font-mono text-xs/4.5 wrap-anywhere select-text"
            title={t("debug.effects.result")}
          >
            <span className="sr-only">{t("debug.effects.result")} </span>
            {result}
          </p>
        )}
        <fieldset className="flex flex-wrap gap-y-1 gap-x-4 mt-1.5 [&_label]:flex [&_label]:items-center [&_label]:gap-1.5 [&_label]:h-6 [&_label]:text-xs/inherit [&_label]:text-text-2 [&_label]:whitespace-nowrap [&_input]:accent-accent [&_input]:size-3.5 [&_label:has(input:checked)]:text-text">
          <legend className="sr-only">{t("debug.effects.choice", { node: effect.node })}</legend>
          {optionsOf(effect).map((option) => (
            <label key={option} data-choice={option}>
              <input
                type="radio"
                name={name}
                value={option}
                checked={choice === option}
                onChange={() => onChoose(option)}
              />
              {t(CHOICES[option])}
            </label>
          ))}
        </fieldset>
      </div>
    </li>
  );
}

const SHOWN = 180;

/** The recorded result on one or two lines; undefined when there is none. */
function shortened({ result }: EffectView): string | undefined {
  if (!result) return undefined;
  if (result.value === undefined)
    return result.head === undefined ? undefined : `${result.head.slice(0, SHOWN)}…`;
  return preview(result.value, SHOWN);
}
