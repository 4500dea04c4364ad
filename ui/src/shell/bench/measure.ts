/** What is measured of the debugger: frames while something scrolls, is walked through or comes. */
import { useRuns } from "../../debugger/model/runStore";
import { forksIds, traceIds } from "../../lib/testIds";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import type { BenchHost } from "./host";
import { RUN, StreamingStep, THREAD, wideStep } from "./thread";

export type Figures = Readonly<Record<string, number>>;

const frame = () => new Promise<number>((resolve) => requestAnimationFrame(resolve));
const rest = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));
const part = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

async function until<T>(find: () => T | null | undefined | false, what: string): Promise<T> {
  for (let turn = 0; turn < 600; turn += 1) {
    const found = find();
    if (found) return found;
    await rest(50);
  }
  throw new Error(`there is no ${what}`);
}

function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
}

async function frames(count: number, step: (index: number) => void): Promise<readonly number[]> {
  const out: number[] = [];
  let last = await frame();
  for (let index = 0; index < count; index += 1) {
    step(index);
    const now = await frame();
    out.push(now - last);
    last = now;
  }
  return out;
}

const spread = (all: readonly number[]): Figures => ({
  p50: percentile(all, 0.5),
  p95: percentile(all, 0.95),
  max: Math.max(...all),
});

async function shown(tab: string): Promise<void> {
  await until(() => useSession.getState().graphId, "graph");
  const session = useSession.getState();
  session.setUse("debug");
  if (session.cursor.threadId !== THREAD) session.setCursor({ threadId: THREAD, checkpointId: null });
  session.setPanel("bottom", { large: true, folded: false });
  session.showTab("bottom", tab, "debug");
}

/** Pixels in a frame: that of a wheel that is turned fast. */
const WHEEL = 240;
const TURNS = 150;

/** Scrolls there and back as a wheel does, from the middle of all that there is. */
async function scrolled(area: HTMLElement): Promise<Figures> {
  const [width, height] = [area.scrollWidth - area.clientWidth, area.scrollHeight - area.clientHeight];
  const [left, top] = [Math.min(width, width / 2), Math.min(height, height / 2)];
  const go = (index: number) => {
    const far = WHEEL * (index < TURNS / 2 ? index : TURNS - index);
    area.scrollTop = top + Math.min(far, height / 2);
    area.scrollLeft = left + Math.min(far, width / 2);
  };
  go(0);
  await rest(500);
  const all = await frames(TURNS, go);
  return { ...spread(all), height: area.scrollHeight, width: area.scrollWidth };
}

/** The same with nothing in it. */
async function empty(like: HTMLElement): Promise<Figures> {
  const area = document.createElement("div");
  const box = like.getBoundingClientRect();
  area.style.cssText = `position:fixed;z-index:99;overflow:auto;left:${box.left}px;top:${box.top}px;width:${box.width}px;height:${box.height}px;background:var(--surface-1)`;
  const inside = document.createElement("div");
  inside.style.cssText = `width:${like.scrollWidth}px;height:${like.scrollHeight}px`;
  area.append(inside);
  document.body.append(area);
  try {
    return await scrolled(area);
  } finally {
    area.remove();
  }
}

async function traceRows(): Promise<HTMLElement> {
  await shown("trace");
  const rows = await until(() => part(traceIds.rows), "trace");
  await until(() => part(traceIds.row), "row of the trace");
  // Every task in a row of its own.
  for (const toggle of document.querySelectorAll<HTMLElement>(
    `[data-testid="${traceIds.row}"][data-kind="node"][aria-expanded="false"] [data-testid="${traceIds.toggle}"]`,
  ))
    toggle.click();
  await frame();
  return rows;
}

async function forkMap(): Promise<HTMLElement> {
  await shown("forks");
  await until(() => part(forksIds.summary)?.dataset["loading"] === undefined && part(forksIds.map), "map");
  return until(() => part(forksIds.map), "map");
}

/** The key for the checkpoint before, pressed once a frame, as a key that is held is at 60 a second. */
async function heldKey(host: BenchHost, tab: string): Promise<Figures> {
  // All checkpoints are loaded by the map.
  await forkMap();
  await shown(tab);
  useSession.getState().setCursor({ checkpointId: null });
  await rest(500);
  const before = host.snapshots;
  host.most = 0;
  const all = await frames(240, () => void runCommand("debug.previousCheckpoint"));
  const asked = host.snapshots - before;
  await until(
    () => useRuns.getState().shown?.place.checkpointId === useSession.getState().cursor.checkpointId,
    "moment under the cursor",
  );
  return { ...spread(all), asked, atOnce: host.most };
}

async function wide(host: BenchHost): Promise<Figures> {
  await shown("timeline");
  useSession.getState().setPanel("bottom", { large: false });
  useSession.getState().setCursor({ checkpointId: null });
  await rest(500);
  const batches = wideStep(200, 60);
  const all = await frames(batches.length * 2, (index) => {
    const batch = index % 2 === 0 ? batches[index / 2] : undefined;
    if (batch) host.emit(batch);
  });
  host.emit([{ type: "run", run: { ...RUN, status: "done", endedAt: RUN.startedAt } }]);
  return { ...spread(all), over50: all.filter((millis) => millis > 50).length };
}

/** Frames of each window of the streaming step, and how many windows, at rest and in stream by turns. */
const STREAMED = 180;
const WINDOWS = 3;

/** The same window by turns with nothing new and while every task of a step streams. */
async function streaming(host: BenchHost): Promise<Figures> {
  await shown("stream");
  useSession.getState().setPanel("bottom", { large: false });
  useSession.getState().setCursor({ checkpointId: null });
  const step = new StreamingStep(200, 50);
  host.emit(step.begin());
  // What has come stands in the window in both.
  let streamed = 1000;
  host.emit(step.until(streamed));
  await rest(1000);
  const still: number[] = [];
  const moved: number[] = [];
  for (let turn = 0; turn < WINDOWS; turn += 1) {
    still.push(...(await frames(STREAMED, () => undefined)));
    const began = performance.now() - streamed;
    moved.push(
      ...(await frames(STREAMED, () => {
        streamed = performance.now() - began;
        host.emit(step.until(streamed));
      })),
    );
    await rest(500);
  }
  host.emit([{ type: "run", run: { ...RUN, status: "done", endedAt: RUN.startedAt } }]);
  const figures = spread(moved);
  return {
    ...figures,
    restP50: percentile(still, 0.5),
    restP95: percentile(still, 0.95),
    restMax: Math.max(...still),
    pieces: step.pieces,
  };
}

export function measurements(host: BenchHost): Readonly<Record<string, () => Promise<Figures>>> {
  return {
    "trace scroll": async () => scrolled(await traceRows()),
    "trace empty": async () => empty(await traceRows()),
    "fork map scroll": async () => scrolled(await forkMap()),
    "fork map empty": async () => empty(await forkMap()),
    "held key in timeline": () => heldKey(host, "timeline"),
    "held key in fork map": () => heldKey(host, "forks"),
    "200 parallel tasks": () => wide(host),
    "200 streaming tasks": () => streaming(host),
  };
}
