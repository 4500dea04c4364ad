/** Choices of a question. */
import type { JsonObject } from "../../document/types";

/** The choice with another label. An answer that is the label goes with it; one of its own stays. */
export function relabelled(choice: JsonObject, label: string): JsonObject {
  const { label: before, value } = choice;
  const own = value !== before && value !== undefined && value !== null;
  return { ...choice, label, value: own ? value : label };
}
