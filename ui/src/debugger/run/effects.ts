/**
 * What a run from a past moment would do to the world again, and what a person wants of it: the defaults, the words that
 * say what will happen, and the question itself. What runs from the past goes through `settleEffects`; what shows
 * the dialog answers it. Nothing of an answer is kept for the next time.
 */
import { create } from "zustand";
import type { EffectChoice } from "../../ipc/bindings/EffectChoice";
import type { EffectList } from "../../ipc/bindings/EffectList";
import type { EffectView } from "../../ipc/bindings/EffectView";
import type { FindEffects } from "../../ipc/bindings/FindEffects";
import { rpc } from "../../ipc/client";
import { trusted } from "../../state/trust";

/** What the person was about to do. */
export type Going = "replay" | "continue" | "run" | "answer";

export type Choices = Readonly<Record<string, EffectChoice>>;

export const effectKey = (effect: EffectView): string => JSON.stringify([...effect.path, effect.node]);

/** The choice that changes nothing outside. */
export function defaultChoice(effect: EffectView): EffectChoice {
  const declared = effect.effect === "once" || effect.effect === "idempotent";
  return declared && effect.reusable ? "reuse" : "stop";
}

export const defaultChoices = (effects: readonly EffectView[]): Choices =>
  Object.fromEntries(effects.map((effect) => [effectKey(effect), defaultChoice(effect)]));

/** What is possible for a node; a result that nobody recorded can not be used. */
export const optionsOf = (effect: EffectView): EffectChoice[] =>
  effect.reusable ? ["reuse", "again", "stop", "ask"] : ["again", "stop", "ask"];

/** Nodes with a choice, in the order of the list. */
export const chosen = (
  effects: readonly EffectView[],
  choices: Choices,
  choice: EffectChoice,
): readonly EffectView[] => effects.filter((effect) => choices[effectKey(effect)] === choice);

/** The more careful first: nodes of the same name in different graphs share what is chosen for the run. */
const CAREFUL: readonly EffectChoice[] = ["stop", "ask", "reuse", "again"];

/** As `run.start` takes it: by the node's name in its graph. */
export function toRequest(effects: readonly EffectView[], choices: Choices): Record<string, EffectChoice> {
  const request: Record<string, EffectChoice> = {};
  for (const effect of effects) {
    const choice = choices[effectKey(effect)] ?? defaultChoice(effect);
    const other = request[effect.node];
    if (other === undefined || CAREFUL.indexOf(choice) < CAREFUL.indexOf(other))
      request[effect.node] = choice;
  }
  return request;
}

export interface EffectsAsked {
  readonly going: Going;
  /** Super-step of the checkpoint that the run begins at, where it is known. */
  readonly step: number | undefined;
  readonly list: EffectList;
  /** Takes the choices; `null` when the person does not go on. */
  readonly decide: (choices: Choices | null) => void;
}

export const useEffectsAsked = create<{ readonly asked: EffectsAsked | null }>(() => ({ asked: null }));

export function decideEffects(choices: Choices | null): void {
  const { asked } = useEffectsAsked.getState();
  useEffectsAsked.setState({ asked: null });
  asked?.decide(choices);
}

export interface Settled {
  /** For `run.start`; absent when nothing would work again. */
  readonly effects?: Record<string, EffectChoice>;
  /** Questions that keep waiting, when no dialog has said so. */
  readonly questionsLeft: number;
}

/** Finds what would work again, and asks when there is something. `null`: the person does not go on. */
export async function settleEffects(find: FindEffects, going: Going, step?: number): Promise<Settled | null> {
  const list = await trusted(() => rpc("run.effects", find), "look");
  if (list.effects.length === 0) return { questionsLeft: list.questionsLeft };
  // An earlier question is answered: only one dialog is open.
  decideEffects(null);
  const choices = await new Promise<Choices | null>((decide) => {
    useEffectsAsked.setState({ asked: { going, step, list, decide } });
  });
  return choices && { effects: toRequest(list.effects, choices), questionsLeft: 0 };
}
