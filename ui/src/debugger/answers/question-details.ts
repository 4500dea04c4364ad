/** Besides its text: a value to edit, for whom a question is, and until when it waits. */
import type { Asked } from "../../ipc/bindings/Asked";
import { isObject } from "../parts/diff";

interface Extras {
  /** The value that is to be edited. */
  edited: unknown;
  who: string[];
  deadline: string | undefined;
}

/** What a question of the `ask` kind says besides its text. */
export function extrasOf(asked: Asked): Extras {
  const value: unknown = asked.value;
  const fields = isObject(value) ? value : {};
  const who = Array.isArray(fields["who"]) ? fields["who"] : [];
  return {
    edited: typeof fields["edit"] === "string" ? fields["value"] : undefined,
    who: who.filter((one): one is string => typeof one === "string"),
    deadline: typeof fields["deadline"] === "string" ? fields["deadline"] : undefined,
  };
}
