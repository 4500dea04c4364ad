/**
 * Playing the checkpoints of the branch that is shown, at the pace of the run: each stays as long as its step took, but
 * neither too short to be seen nor so long that nothing seems to happen. Ends with the branch, at any key, and when the
 * person goes elsewhere.
 */
import { create } from "zustand";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { keysOf, matches } from "../../state/keymap";
import { useSession } from "../../state/session";
import { useRuns } from "../model/runStore";
import { trackNow } from "./walk";

export const SPEEDS = [1, 4, 16] as const;
export type Speed = (typeof SPEEDS)[number];

/** Milliseconds that a checkpoint stays, at normal speed. */
const LEAST = 250;
const MOST = 2000;
/** Not faster than frames. */
const FRAME = 16;

/** How long a moment stays before the next one is shown. */
export function pace(at: string, next: string, speed: Speed): number {
  const took = Date.parse(next) - Date.parse(at);
  const stays = Number.isNaN(took) ? LEAST : Math.max(LEAST, Math.min(MOST, took));
  return Math.max(FRAME, stays / speed);
}

interface PlaybackState {
  readonly playing: boolean;
  readonly speed: Speed;
}

export const usePlayback = create<PlaybackState>(() => ({ playing: false, speed: 1 }));

let timer: ReturnType<typeof setTimeout> | undefined;
/** Where playing has put the cursor: one that stands elsewhere was moved by the person. */
let put: string | null = null;
let leave: (() => void) | undefined;

export function pause(): void {
  clearTimeout(timer);
  leave?.();
  leave = undefined;
  if (usePlayback.getState().playing) usePlayback.setState({ playing: false });
}

export function setSpeed(speed: Speed): void {
  usePlayback.setState({ speed });
  if (usePlayback.getState().playing) wait();
}

/** Plays on from the moment that is shown; from the beginning of the branch when that is its end. */
export function play(): void {
  const track = trackNow();
  if (track.branch.length < 2) return;
  const { cursor } = useSession.getState();
  const atEnd = cursor.checkpointId === null || track.at === track.branch.length - 1;
  usePlayback.setState({ playing: true });
  go(atEnd ? (track.branch[0] ?? null) : cursor.checkpointId);
  const onKey = (event: KeyboardEvent) => {
    if (!isOwn(event)) pause();
  };
  window.addEventListener("keydown", onKey);
  const unsubscribe = useSession.subscribe(({ cursor: now, use }) => {
    if (now.checkpointId !== put || use !== "debug") pause();
  });
  leave = () => {
    window.removeEventListener("keydown", onKey);
    unsubscribe();
  };
  wait();
}

const SHIFTS = ["Shift", "Control", "Alt", "Meta"];

/** Keys that do something to the playback themselves, or nothing yet. */
function isOwn(event: KeyboardEvent): boolean {
  if (SHIFTS.includes(event.key)) return true;
  if (keysOf("debug.play").some((keys) => matches(event, keys))) return true;
  const presses = event.key === " " || event.key === "Enter";
  return presses && event.target instanceof Element && event.target.closest("button, [role=option]") !== null;
}

export function togglePlayback(): void {
  if (usePlayback.getState().playing) pause();
  else play();
}

function go(checkpointId: string | null): void {
  put = checkpointId;
  useSession.getState().setCursor({ checkpointId });
}

function wait(): void {
  clearTimeout(timer);
  const { branch, at, byId } = trackNow();
  const [id, next] = [branch[at], branch[at + 1]];
  if (id === undefined || next === undefined) {
    pause();
    return;
  }
  const time = (of: string) => byId.get(of)?.at ?? "";
  timer = setTimeout(
    () => {
      const track = trackNow();
      const to = track.branch[track.at + 1];
      if (to !== undefined) go(to === newest() ? null : to);
      if (to === undefined || track.at + 2 >= track.branch.length) pause();
      else wait();
    },
    pace(time(id), time(next), usePlayback.getState().speed),
  );
}

function newest(): CheckpointView["id"] | undefined {
  const { threadId } = useSession.getState().cursor;
  return threadId === null ? undefined : useRuns.getState().checkpoints.get(threadId)?.list[0]?.id;
}
