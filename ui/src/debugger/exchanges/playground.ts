/**
 * A request to a model that a person changes: what it begins as, what is different from the one that was sent, and how it
 * is taken over into the node or into the thread. Pure.
 */
import type { Json, JsonObject } from "../../document/types";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { isObject, sameJson } from "../parts/diff";

/** Whose exchange it is. */
export interface ExchangeOf {
  readonly threadId: string;
  /** The checkpoint that the task's step began from. */
  readonly from: string;
  readonly taskId: string;
  /** The node on the canvas that asked; null when it was inside of one. */
  readonly node: string | null;
  /** The packet that the task was sent instead of the state. */
  readonly packet?: unknown;
}

export interface Subject extends ExchangeOf {
  readonly exchange: ExchangeView;
}

/** Texts of the node that become messages. */
export type Part = "system" | "prompt";
export const PARTS: readonly Part[] = ["system", "prompt"];

/** Settings that are fields of their own. */
const SETTINGS = ["temperature", "max_tokens", "reasoning"] as const;
export type Setting = (typeof SETTINGS)[number];

export interface Draft {
  readonly model: string;
  readonly messages: readonly Json[];
  readonly settings: Readonly<Partial<Record<Setting, Json>>>;
  /** Tools and the output's schema, as they were sent. */
  readonly rest: JsonObject;
  /** The recorded answers answer. */
  readonly replay: boolean;
  /** Templates of the node, where a message is one of them rendered. */
  readonly templates: Readonly<Partial<Record<Part, string>>>;
  /** Which message each of them is. */
  readonly places: Readonly<Partial<Record<Part, number>>>;
}

const jsonList = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as Json[]) : []);

/** The request as it was sent. */
export function draftOf(exchange: ExchangeView): Draft {
  const request = isObject(exchange.request) ? (exchange.request as JsonObject) : {};
  const { messages, ...others } = request;
  const settings: Partial<Record<Setting, Json>> = {};
  const rest: Record<string, Json> = {};
  for (const [name, value] of Object.entries(others)) {
    if (value === undefined) continue;
    if ((SETTINGS as readonly string[]).includes(name)) settings[name as Setting] = value;
    else rest[name] = value;
  }
  return {
    model: exchange.model,
    messages: jsonList(messages),
    settings,
    rest,
    replay: exchange.by === "recording",
    templates: {},
    places: {},
  };
}

/** The parts of a node's prompt that are among the messages, by what they give at the moment of the task. */
export function mapped(
  draft: Draft,
  templates: Readonly<Partial<Record<Part, string>>>,
  rendered: Readonly<Partial<Record<Part, string>>>,
): Draft {
  const found: Partial<Record<Part, number>> = {};
  const taken: Partial<Record<Part, string>> = {};
  for (const part of PARTS) {
    const text = rendered[part];
    const template = templates[part];
    if (text === undefined || template === undefined) continue;
    const roles = part === "system" ? ["system"] : ["human", "user"];
    const at = draft.messages.findLastIndex(
      (message) =>
        isObject(message) && message.content === text && roles.includes(String(message.type ?? message.role)),
    );
    if (at < 0) continue;
    found[part] = at;
    taken[part] = template;
  }
  return { ...draft, templates: taken, places: found };
}

/** A template was changed, and gives this now. */
export function withPart(draft: Draft, part: Part, template: string, rendered: string | undefined): Draft {
  const at = draft.places[part];
  const messages = draft.messages.map((message, index) =>
    index === at && rendered !== undefined && isObject(message) ? { ...message, content: rendered } : message,
  );
  return { ...draft, messages, templates: { ...draft.templates, [part]: template } };
}

/** Other messages than the ones of templates; a template whose message is gone or edited is none any more. */
export function withMessages(draft: Draft, messages: readonly Json[]): Draft {
  const places: Partial<Record<Part, number>> = {};
  const templates: Partial<Record<Part, string>> = {};
  for (const part of PARTS) {
    const at = draft.places[part];
    const template = draft.templates[part];
    if (at === undefined || template === undefined) continue;
    const message = draft.messages[at];
    const now = messages.findIndex((other) => other === message);
    if (now < 0) continue;
    places[part] = now;
    templates[part] = template;
  }
  return { ...draft, messages, places, templates };
}

/** As `model.ask` takes it. */
export const requestOf = ({ messages, settings, rest }: Draft): Record<string, Json> => ({
  ...rest,
  ...settings,
  messages: [...messages],
});

/** What is different from what was sent, in words. */
export function changesOf(exchange: ExchangeView, draft: Draft): string {
  const sent = draftOf(exchange);
  const changed: string[] = [];
  if (draft.model !== sent.model) changed.push(draft.model);
  for (const name of SETTINGS) {
    const value = draft.settings[name];
    if (!sameJson(value, sent.settings[name]))
      changed.push(`${name}${value === undefined ? "" : ` ${String(value)}`}`);
  }
  if (!sameJson(draft.messages, sent.messages)) changed.push(t("playground.changed.messages"));
  if (!sameJson(draft.rest, sent.rest)) changed.push(t("playground.tools"));
  return changed.length === 0
    ? t("playground.changed.nothing")
    : t("playground.changed", { what: listed(changed) });
}

/** Fields of the node's settings that become what was tried: only what a person changed. */
export function nodeFields(
  exchange: ExchangeView,
  config: JsonObject,
  draft: Draft,
): readonly { readonly pointer: string; readonly value: Json | undefined }[] {
  const sent = draftOf(exchange);
  const fields: { pointer: string; value: Json | undefined }[] = [];
  const set = (name: string, value: Json | undefined) => {
    if (!sameJson(config[name], value)) fields.push({ pointer: `/config/${name}`, value });
  };
  if (draft.model !== sent.model) set("model", draft.model);
  for (const name of SETTINGS)
    if (!sameJson(draft.settings[name], sent.settings[name])) set(name, draft.settings[name]);
  for (const part of PARTS) {
    const template = draft.templates[part];
    if (template !== undefined) set(part, template);
  }
  return fields;
}

/** What the task would have written with this answer. */
export function forkValues(
  config: JsonObject,
  answer: { readonly value?: unknown; readonly usage?: unknown },
  { taskId, asMessage }: { taskId: string; asMessage: boolean },
): Record<string, unknown> | null {
  const { into, usage_into: usageInto } = config;
  if (typeof into !== "string" || into === "" || answer.value === undefined) return null;
  const { value } = answer;
  const message = isObject(value) && value.type === "ai" ? value : null;
  const written = message === null ? value : asMessage ? { ...message, id: `ai-${taskId}` } : message.content;
  return {
    [into]: asMessage && message !== null ? [written] : written,
    ...(typeof usageInto === "string" && answer.usage !== undefined && { [usageInto]: answer.usage }),
  };
}
