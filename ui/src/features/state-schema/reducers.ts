/** How updates join a value and how long it lasts, as choices. */

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
