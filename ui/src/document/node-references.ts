/**
 * Nodes that are named in settings: kinds say in their settings' schema which fields do it (`x-editor: node`, and
 * `x-leads-to` with the fields beside it that must hold), so nothing here knows a kind.
 */
import { fits, type Schema } from "../components/schema-form/schema";
import type { GraphDocument } from "./document";
import { visitSettings, withValue, type Path } from "./settings";
import { alsoInVariants } from "./variants";
import { readsKey, withQuoted } from "./written-names";
import { edgeOf, END, isObject, nodeOf, type Json, type JsonObject } from "./types";

/** Settings' schemas by kind. */
export type Schemas = ReadonlyMap<string, Schema>;

/** A place in settings that names a node. */
export interface Named {
  readonly path: Path;
  readonly name: string;
  /** The run may go on there without an edge. */
  readonly leads: boolean;
  /** The state key that takes the name. */
  readonly into?: string;
}

/** Every place in settings that names a node. */
export function namedIn(schema: Schema, config: Json | undefined): Named[] {
  const found: Named[] = [];
  visitSettings(schema, config, ({ path, field, value, beside }) => {
    const wanted = field["x-leads-to"];
    const leads = isObject(wanted);
    if (!leads && field["x-editor"] !== "node") return;
    if (leads && !Object.entries(wanted).every(([other, value]) => fits(beside.value(other), value))) return;
    const taking = beside.names.find((other) => beside.field(other)["x-takes"] === path.at(-1));
    const into = taking === undefined ? undefined : beside.value(taking);
    const note = (path: Path, name: Json) => {
      if (typeof name === "string" && !found.some((one) => sameList(one.path, path)))
        found.push({ path, name, leads, ...(typeof into === "string" && { into }) });
    };
    if (Array.isArray(value)) value.forEach((name, index) => note([...path, index], name));
    else note(path, value);
  });
  return found;
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** Every place of a node's settings that names a node. */
export function placesOf(record: Json | undefined, schemas: Schemas): Named[] {
  const { kind, config } = nodeOf(record);
  const schema = schemas.get(kind);
  return schema ? namedIn(schema, config) : [];
}

/** The places of a document whose settings name a node that `wanted` looks for, by the node that has the settings. */
export function namedBy(
  doc: GraphDocument,
  schemas: Schemas,
  wanted: (name: string) => boolean,
): [node: string, places: Named[]][] {
  return doc.names("node").flatMap((name) => {
    const places = placesOf(doc.get(`node:${name}`), schemas).filter((place) => wanted(place.name));
    return places.length === 0 ? [] : [[name, places] as [string, Named[]]];
  });
}

/** A node's record whose settings say the new names, those of its variants too. */
export function withNames(
  record: JsonObject,
  schemas: Schemas,
  renamed: (name: string) => string | undefined,
): JsonObject {
  const named = (each: JsonObject) => withOwnNames(each, schemas, renamed);
  return alsoInVariants(named(record), named);
}

function withOwnNames(
  record: JsonObject,
  schemas: Schemas,
  renamed: (name: string) => string | undefined,
): JsonObject {
  const { config } = nodeOf(record);
  let next: Json = config;
  for (const { path, name } of placesOf(record, schemas)) {
    const to = renamed(name);
    if (to !== undefined && to !== name) next = withValue(next, path, to);
  }
  return next === config ? record : { ...record, config: next };
}

/**
 * A choice that reads a key which takes nodes' names has them as labels, and often one of them as a text in its
 * expression: those follow.
 */
export function withLabels(
  edge: JsonObject,
  keys: ReadonlySet<string>,
  renamed: (name: string) => string | undefined,
): JsonObject {
  const { route, paths } = edge;
  if (typeof route !== "string" || !isObject(paths)) return edge;
  if (!readsKey(route, keys)) return edge;
  const labels = new Map(
    Object.keys(paths).flatMap((label) => {
      const to = renamed(label);
      return to === undefined || to === label ? [] : [[label, to] as const];
    }),
  );
  if (labels.size === 0) return edge;
  return {
    ...edge,
    route: withQuoted(route, (name) => labels.get(name)),
    paths: Object.fromEntries(
      Object.entries(paths).map(([label, target]) => [labels.get(label) ?? label, target]),
    ),
  };
}

/** A state key that takes names: the names it allows, and its beginning, follow; those of copies come beside the old ones. */
export function withAllowed(
  key: JsonObject,
  renamed: (name: string) => string | undefined,
  copies: boolean,
): JsonObject {
  const follow = (value: Json): Json => (typeof value === "string" && renamed(value)) || value;
  const allowed = key["enum"];
  const next: JsonObject = { ...key };
  if (Array.isArray(allowed)) {
    const names = allowed.map(follow);
    next["enum"] = copies ? [...allowed, ...names.filter((name) => !allowed.includes(name))] : names;
  }
  if (key["default"] !== undefined && !copies) next["default"] = follow(key["default"]);
  return next;
}

/** The state keys that take the names of these nodes. */
export function keysTaking(places: readonly (readonly [string, readonly Named[]])[]): Set<string> {
  return new Set(places.flatMap(([, named]) => named.flatMap(({ into }) => into ?? [])));
}

// Ways without an edge

export interface Jump {
  readonly id: string;
  readonly from: string;
  /** Itself for a program of which it is not known where it goes. */
  readonly to: string;
  /** Said by settings or a program; only gone in a run; not known. */
  readonly how: "said" | "seen" | "unknown";
}

/** Node → names of those that it may go to. */
export type DynamicTargets = Readonly<Record<string, readonly string[]>>;

/**
 * Every way of a document that is not drawn as an edge: what settings name as they are now, and what the host has read in
 * programs, such as the return annotation of a Python function.
 */
export function jumpsOf(doc: GraphDocument, schemas: Schemas, leads: DynamicTargets = {}): Jump[] {
  const ways = new Map<string, string[]>();
  for (const [from, places] of namedBy(doc, schemas, () => true))
    ways.set(
      from,
      places.filter((place) => place.leads).map((place) => place.name),
    );
  for (const [from, names] of Object.entries(leads))
    if (doc.has(`node:${from}`)) ways.set(from, [...(ways.get(from) ?? []), ...names]);
  return [...ways].flatMap(([from, names]) => {
    const drawn = new Set(doc.edgesFrom(from).flatMap((edge) => edgeOf(doc.get(`edge:${edge}`)).targets));
    return [...new Set(names)]
      .filter((to) => to !== from && !drawn.has(to) && (to === END || doc.has(`node:${to}`)))
      .map((to) => ({ id: `jump|${from}|${to}`, from, to, how: "said" as const }));
  });
}

/** A list of a kind's settings in which the nodes stand that a program goes to. */
function listOfGoals(schema: Schema | undefined): string | null {
  const properties = Object.entries(schema?.properties ?? {});
  return (
    properties.find(
      ([, field]) => typeof field === "object" && isObject(field["x-leads-to"]) && field.type === "array",
    )?.[0] ?? null
  );
}

/**
 * Programs that go somewhere with a command, of which nothing says where. Seen in the text of the settings only, so a
 * program of a file says nothing here.
 */
export function unknownJumps(doc: GraphDocument, schemas: Schemas, known: readonly Jump[]): Jump[] {
  const listed = new Set(known.map((jump) => jump.from));
  return doc.names("node").flatMap((name): Jump[] => {
    const { kind, config } = nodeOf(doc.get(`node:${name}`));
    if (listed.has(name) || listOfGoals(schemas.get(kind)) === null) return [];
    const goes = Object.values(config).some(
      (text) => typeof text === "string" && /\bCommand\s*\(/.test(text) && /\bgoto\b/.test(text),
    );
    return goes ? [{ id: `jump|${name}|?`, from: name, to: name, how: "unknown" }] : [];
  });
}

/** The field and the names of a node's list of goals; null for kinds without one. */
export function goalsOf(
  record: Json | undefined,
  schemas: Schemas,
): { readonly field: string; readonly names: readonly string[] } | null {
  const { kind, config } = nodeOf(record);
  const field = listOfGoals(schemas.get(kind));
  if (field === null) return null;
  const names = config[field];
  return {
    field,
    names: Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [],
  };
}

/** The record with other goals. */
export function withGoals(record: JsonObject, field: string, names: readonly string[]): JsonObject {
  const { [field]: _before, ...rest } = nodeOf(record).config;
  return { ...record, config: names.length === 0 ? rest : { ...rest, [field]: [...names] } };
}

/** Schemas of the kinds whose settings may name a node; the others need not be looked through. */
export function namingKinds(
  kinds: readonly { readonly kind: string; readonly configSchema: unknown }[],
): Schemas {
  return new Map(
    kinds.flatMap((each) =>
      /"x-leads-to"|"x-editor":"node"/.test(JSON.stringify(each.configSchema))
        ? [[each.kind, each.configSchema as Schema] as const]
        : [],
    ),
  );
}
