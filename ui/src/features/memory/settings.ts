/** Settings of long-term memory as a form has them. */
import type { MemorySettings } from "../../ipc/bindings/MemorySettings";

/** The embedding that needs no model; graphs name it in the same way. */
export const NGRAMS = "ngrams";

const MINUTES = { minutes: 1, hours: 60, days: 24 * 60 } as const;

export const UNITS = ["minutes", "hours", "days"] as const satisfies readonly (keyof typeof MINUTES)[];

export interface Shape {
  readonly way: "words" | "spelling" | "model";
  readonly model: string;
  /** Nothing keeps items forever. */
  readonly time: number | undefined;
  readonly unit: keyof typeof MINUTES;
  readonly refresh: boolean;
}

export function shapeOf(memory: MemorySettings | undefined): Shape {
  const { embedding, ttlMinutes } = memory ?? {};
  const model = embedding === NGRAMS ? undefined : embedding;
  const fits = (unit: keyof typeof MINUTES) => (ttlMinutes ?? 0) % MINUTES[unit] === 0;
  const unit = fits("days") ? "days" : fits("hours") ? "hours" : "minutes";
  return {
    way: embedding === undefined ? "words" : model === undefined ? "spelling" : "model",
    model: model ?? "",
    time: ttlMinutes === undefined ? undefined : ttlMinutes / MINUTES[unit],
    unit,
    refresh: memory?.refreshOnRead ?? true,
  };
}

export function memoryOf({ way, model, time, unit, refresh }: Shape): MemorySettings {
  return {
    ...(way !== "words" && { embedding: way === "spelling" ? NGRAMS : model.trim() }),
    ...(time !== undefined && { ttlMinutes: time * MINUTES[unit] }),
    refreshOnRead: refresh,
  };
}

/** A model has a connection or provider and a name. */
export const isComplete = ({ way, model }: Shape): boolean =>
  way !== "model" || /^[^:]+::./.test(model.trim());

export const sameMemory = (a: MemorySettings, b: MemorySettings | undefined): boolean =>
  a.embedding === b?.embedding &&
  a.ttlMinutes === b?.ttlMinutes &&
  a.refreshOnRead === (b?.refreshOnRead ?? true);
