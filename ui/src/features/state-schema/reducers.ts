/** How updates join a value and how long it lasts, as choices. */
import { t, type TextKey } from "../../lib/texts";

/** Reducers, with the types they can join. */
export const REDUCERS: readonly [name: string, types: readonly string[] | null][] = [
  ["overwrite", null],
  ["add", ["number", "integer", "string", "array"]],
  ["multiply", ["number", "integer"]],
  ["min", ["number", "integer"]],
  ["max", ["number", "integer"]],
  ["and", ["boolean"]],
  ["or", ["boolean"]],
  ["append", ["array"]],
  ["union", ["array"]],
  ["add_messages", ["array"]],
  ["merge", ["object"]],
];

/** How long a value lasts; what does not name a channel is kept. */
export const CHANNELS = ["kept", "ephemeral", "any", "topic", "untracked"] as const;

/** A reducer in words; one that is none stands for itself. */
export const reducerText = (reducer: string): string =>
  REDUCERS.some(([name]) => name === reducer) ? t(`forms.reducer.${reducer}` as TextKey) : reducer;

/** How long a value lasts, in words. */
export const channelText = (channel: string): string =>
  (CHANNELS as readonly string[]).includes(channel) ? t(`forms.channel.${channel}` as TextKey) : channel;
