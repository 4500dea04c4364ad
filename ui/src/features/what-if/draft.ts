/** A what-if grid while a person writes it: rows with their changes, and what the workbench is asked for. Pure. */
import type { WhatIfGrid } from "../../ipc/bindings/WhatIfGrid";
import type { WhatIfRow } from "../../ipc/bindings/WhatIfRow";
import { preview } from "../../debugger/parts/format";

export type ChangeKind = "value" | "setting" | "model" | "input";

export interface Change {
  readonly id: number;
  readonly kind: ChangeKind;
  /** A state key, or the JSON Pointer of a setting. */
  readonly name: string;
  /** As text: of texts the text itself, of everything else JSON. */
  readonly text: string;
  /** The text is the value. */
  readonly plain: boolean;
}

export interface DraftRow {
  readonly id: number;
  readonly name: string;
  readonly changes: readonly Change[];
  /** What a grid from a file has and this form does not. */
  readonly rest: Pick<WhatIfRow, "graph" | "models" | "asNode">;
}

export interface Draft {
  readonly rows: readonly DraftRow[];
  readonly scorer: "none" | "expression" | "model";
  readonly expression: string;
  readonly judge: string;
  readonly rubric: string;
  readonly repeat: number | undefined;
  readonly concurrency: number | undefined;
  readonly limit: NonNullable<WhatIfGrid["limit"]>;
  readonly total: NonNullable<WhatIfGrid["total"]>;
  readonly effects: NonNullable<WhatIfGrid["effects"]>;
  readonly rest: Pick<WhatIfGrid, "keys" | "models">;
}

let made = 0;
const fresh = (): number => (made += 1);

export const newChange = (kind: ChangeKind, name = "", value?: unknown): Change => ({
  id: fresh(),
  kind,
  name,
  plain: kind === "model" || typeof value === "string",
  text: value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value),
});

export const newRow = (changes: readonly Change[] = []): DraftRow => ({
  id: fresh(),
  name: "",
  changes,
  rest: {},
});

/** The row again, with changes of its own. */
export const copyRow = (row: DraftRow): DraftRow => ({
  ...row,
  id: fresh(),
  changes: row.changes.map((change) => ({ ...change, id: fresh() })),
});

/** One row for each value of a change, with the row's other changes. */
export function varied(row: DraftRow, change: Change, values: readonly string[]): DraftRow[] {
  return values.map((text) => ({
    ...copyRow({ ...row, changes: row.changes.map((one) => (one === change ? { ...one, text } : one)) }),
    name: "",
  }));
}

/** The values of lines; an empty line is none. */
export const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** The value that a change stands for; `undefined` while its text is none. */
export function valueOf(change: Change): { readonly value: unknown } | undefined {
  if (change.plain) return { value: change.text };
  try {
    return { value: JSON.parse(change.text) as unknown };
  } catch {
    return undefined;
  }
}

/** Whether a change can run as it is. */
export function isWhole(change: Change): boolean {
  if ((change.kind === "value" || change.kind === "setting") && change.name === "") return false;
  if (change.kind === "model") return change.text.trim() !== "";
  const given = valueOf(change);
  if (change.kind !== "input") return given !== undefined;
  return typeof given?.value === "object" && given.value !== null && !Array.isArray(given.value);
}

export const isReady = (draft: Draft): boolean =>
  draft.rows.length > 0 &&
  draft.rows.every((row) => row.changes.every(isWhole)) &&
  (draft.scorer !== "expression" || draft.expression.trim() !== "") &&
  (draft.scorer !== "model" || (draft.judge.trim() !== "" && draft.rubric.trim() !== ""));

function rowOf(row: DraftRow): WhatIfRow {
  const named = row.name.trim();
  const of = (kind: ChangeKind) => row.changes.filter((change) => change.kind === kind);
  const record = (changes: readonly Change[]) =>
    Object.fromEntries(changes.map((change) => [change.name, valueOf(change)?.value]));
  const [values, settings, [model], [input]] = [of("value"), of("setting"), of("model"), of("input")];
  return {
    ...row.rest,
    ...(named !== "" && { name: named }),
    ...(values.length > 0 && { values: record(values) }),
    ...(settings.length > 0 && { settings: record(settings) }),
    ...(model && { model: model.text.trim() }),
    ...(input && { input: valueOf(input)?.value }),
  };
}

export function gridOf(draft: Draft): WhatIfGrid {
  return {
    ...draft.rest,
    rows: draft.rows.map(rowOf),
    ...(draft.repeat !== undefined && { repeat: draft.repeat }),
    ...(draft.concurrency !== undefined && { concurrency: draft.concurrency }),
    limit: draft.limit,
    total: draft.total,
    effects: draft.effects,
    ...(draft.scorer === "expression" && { scorer: { expression: draft.expression.trim() } }),
    ...(draft.scorer === "model" && {
      scorer: { model: draft.judge.trim(), rubric: draft.rubric.trim() },
    }),
  };
}

/** A grid that ran, to be written on. */
export function draftOf(grid: WhatIfGrid): Draft {
  const { scorer } = grid;
  return {
    rows: grid.rows.map((row): DraftRow => ({
      id: fresh(),
      name: row.name ?? "",
      changes: [
        ...(row.input === undefined ? [] : [newChange("input", "", row.input)]),
        ...Object.entries(row.values ?? {}).map(([key, value]) => newChange("value", key, value)),
        ...(row.model === undefined ? [] : [newChange("model", "", row.model)]),
        ...Object.entries(row.settings ?? {}).map(([pointer, value]) => newChange("setting", pointer, value)),
      ],
      rest: {
        ...(row.graph !== undefined && { graph: row.graph }),
        ...(row.models !== undefined && { models: row.models }),
        ...(row.asNode !== undefined && { asNode: row.asNode }),
      },
    })),
    scorer: scorer?.expression !== undefined ? "expression" : scorer?.model !== undefined ? "model" : "none",
    expression: scorer?.expression ?? "",
    judge: scorer?.model ?? "",
    rubric: scorer?.rubric ?? "",
    repeat: grid.repeat,
    concurrency: grid.concurrency,
    limit: grid.limit ?? {},
    total: grid.total ?? {},
    effects: grid.effects ?? {},
    rest: {
      ...(grid.keys !== undefined && { keys: grid.keys }),
      ...(grid.models !== undefined && { models: grid.models }),
    },
  };
}

export interface SettingOption {
  readonly pointer: string;
  /** Without the parts that say nothing: `reply prompt`. */
  readonly label: string;
  readonly value: unknown;
}

const escape = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** Settings of nodes that can be another: every value within their configuration, as far as a list should go. */
export function settingsOf(nodes: Iterable<readonly [string, unknown]>, most = 2_000): SettingOption[] {
  const found: SettingOption[] = [];
  const walk = (pointer: string, label: string, value: unknown, depth: number) => {
    if (found.length >= most) return;
    if (depth < 6 && typeof value === "object" && value !== null) {
      for (const [name, inner] of Object.entries(value))
        walk(`${pointer}/${escape(name)}`, `${label} ${name}`, inner, depth + 1);
      return;
    }
    found.push({ pointer, label, value });
  };
  for (const [name, record] of nodes) {
    const config = (record as { config?: unknown } | null)?.config;
    if (typeof config === "object" && config !== null)
      for (const [field, value] of Object.entries(config))
        walk(`/nodes/${escape(name)}/config/${escape(field)}`, `${name} ${field}`, value, 1);
  }
  return found;
}

/** What a row is called when it has no name. */
export function rowName(row: DraftRow, none: string): string {
  const part = (change: Change) => {
    const { kind, name, text } = change;
    if (kind === "model") return text.trim();
    const given = valueOf(change);
    // What is no value yet is shown as it is written.
    const shown = given === undefined ? text.trim() : preview(given.value, 24);
    if (kind === "input") return `input ${shown}`;
    const place = name
      .split("/")
      .filter((one) => one !== "" && one !== "nodes" && one !== "config")
      .join(" ");
    return `${place} = ${shown}`;
  };
  const name = row.changes.map(part).join(", ");
  return name === "" ? none : name;
}
