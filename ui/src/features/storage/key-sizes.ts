/** Whose keys take the space. */

/** Keys of the graph, and those that the engine keeps for itself. */
export function byOwner<K extends { readonly key: string }>(keys: readonly K[]): { own: K[]; engine: K[] } {
  const engine = (key: K) => key.key.startsWith("__") || key.key.includes(":");
  return { own: keys.filter((key) => !engine(key)), engine: keys.filter(engine) };
}
