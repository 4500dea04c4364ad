/**
 * What was just added, nodes and parts of their settings and edges, and which of their fields somebody has been in: what is
 * still missing there is a hint, no error, until the field is left or a run is asked for. The problems themselves are the
 * workbench's.
 */
import { useCallback } from "react";
import { create } from "zustand";
import { useSession } from "./session";

interface Begun {
  /** Pointers to what is new; the empty one is the whole record. */
  readonly places: ReadonlySet<string>;
  readonly left: ReadonlySet<string>;
}

const useNew = create<{ readonly records: ReadonlyMap<string, Begun> }>(() => ({ records: new Map() }));

const NONE: Begun = { places: new Set(), left: new Set() };

/** A part of a record that a person is about to fill in. */
export function beginPlace(record: string, pointer: string): void {
  useNew.setState(({ records }) => {
    const before = records.get(record) ?? NONE;
    // What stands there now was not left yet.
    const left = new Set([...before.left].filter((field) => !isWithin(field, pointer)));
    return { records: new Map(records).set(record, { places: new Set(before.places).add(pointer), left }) };
  });
}

/** A node that a person is about to fill in. */
export const beginNode = (name: string): void => beginPlace(`node:${name}`, "");

/** Somebody left a field, at a pointer into the record. */
export function leavePlace(record: string, pointer: string): void {
  const begun = useNew.getState().records.get(record);
  if (begun === undefined || begun.left.has(pointer)) return;
  useNew.setState(({ records }) => ({
    records: new Map(records).set(record, { ...begun, left: new Set(begun.left).add(pointer) }),
  }));
}

/** Somebody left a field of a node. */
export const leaveField = (node: string, pointer: string): void => leavePlace(`node:${node}`, pointer);

/** Everything that is missing is an error from now on: a run was asked for, or another graph is open. */
export function endCalm(): void {
  if (useNew.getState().records.size > 0) useNew.setState({ records: new Map() });
}

useSession.subscribe((state, before) => {
  if (state.graphId !== before.graphId) endCalm();
});

const isWithin = (pointer: string, place: string) => pointer === place || pointer.startsWith(`${place}/`);

const waits = (begun: Begun | undefined, pointer: string) =>
  begun !== undefined &&
  [...begun.places].some((place) => isWithin(pointer, place)) &&
  ![...begun.left].some((field) => isWithin(pointer, field));

/** Says of a pointer into a record whether a problem there can wait. */
export function useCalmRecord(record: string): (pointer: string) => boolean {
  const begun = useNew((state) => state.records.get(record));
  return useCallback((pointer) => waits(begun, pointer), [begun]);
}

/** The same of a node's record. */
export const useCalm = (node: string): ((pointer: string) => boolean) => useCalmRecord(`node:${node}`);

/** The same of all records. */
export function useCalmAll(): (record: string, pointer: string) => boolean {
  const records = useNew((state) => state.records);
  return useCallback((record, pointer) => waits(records.get(record), pointer), [records]);
}
