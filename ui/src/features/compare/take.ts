/** A value of the left side taken into an edit of the right one: prepared, and applied only by the person. */
import { copyText } from "../../debugger/parts/CopyButton";
import { useEdits } from "../../debugger/state/edits";
import { escapePointer, isObject, pointerParts, valueAt, withValueAt } from "../../debugger/parts/diff";
import type { Difference } from "../../ipc/bindings/Difference";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { type ComparedMoment, useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";

/** The value of a key with the other side's part in it; an item that a list lacks is put in, and replaces none. */
export function taken(base: unknown, pointer: string, value: unknown, isMissing: boolean): unknown {
  const parts = pointerParts(pointer);
  const last = parts.at(-1);
  if (last === undefined || !isMissing) return withValueAt(base, pointer, value);
  const around = parts
    .slice(0, -1)
    .map((part) => `/${escapePointer(part)}`)
    .join("");
  const list = valueAt(base, around);
  if (Array.isArray(list)) return withValueAt(base, around, list.toSpliced(Number(last), 0, value));
  return isObject(list) ? withValueAt(base, pointer, value) : base;
}

/** Whether there is something on the left to take; an item that only moved is on both sides. */
export const canTake = ({ left, change }: Difference): boolean => left !== undefined && change !== "moved";

/** A value of a side, whole. */
const read = async ({ threadId, checkpointId }: ComparedMoment, pointer: string): Promise<unknown> =>
  (
    await rpc("thread.value", {
      threadId,
      ...(checkpointId !== null && { checkpointId }),
      pointer,
      offset: 0,
      limit: 0,
    })
  ).value as unknown;

/** Copies a value of a side, also one that is too large to be shown. */
export async function copyValue(
  view: ValueView | undefined,
  side: ComparedMoment,
  pointer: string,
): Promise<void> {
  try {
    const value = view?.value === undefined ? await read(side, pointer) : (view.value as unknown);
    await copyText(typeof value === "string" ? value : JSON.stringify(value, null, 2));
  } catch (thrown) {
    showProblem(thrown);
  }
}

/** Puts the left value into the pending edit of the right moment, and shows that edit. */
export async function takeLeft(
  { pointer, leftPointer, right }: Difference,
  sides: { readonly left: ComparedMoment; readonly right: ComparedMoment },
): Promise<void> {
  const [key = "", ...rest] = pointerParts(pointer);
  const within = rest.map((part) => `/${escapePointer(part)}`).join("");
  try {
    const isNew = right === undefined && within === "";
    const [value, base] = await Promise.all([
      read(sides.left, leftPointer ?? pointer),
      isNew ? undefined : read(sides.right, `/${escapePointer(key)}`),
    ]);
    const { threadId, checkpointId } = sides.right;
    // An edit that is pending there goes on from what it has.
    const { pending, edit } = useEdits.getState();
    const isHere = pending?.threadId === threadId && pending.checkpointId === checkpointId;
    const from = (isHere ? pending.keys[key]?.value : undefined) ?? base;
    edit({ threadId, checkpointId }, key, base, "", taken(from, within, value, right === undefined));
    useSession.getState().showTab("right", "state", "debug");
    showToast({
      tone: "info",
      text: t("debug.compare.taken", { key }),
      detail: t("debug.compare.takenText"),
    });
  } catch (thrown) {
    showProblem(thrown);
  }
}
