/** What was tried in the playground: requests that run or have run, by the exchange that they began as. Kept in the window. */
import { create } from "zustand";
import type { ExchangeView } from "../../ipc/bindings/ExchangeView";
import { rpc, subscribe } from "../../ipc/client";
import { trusted } from "../../state/trust";
import { asProblem, type ShownProblem } from "../parts/problem";
import { readableError } from "../parts/format";
import { type Draft, requestOf, type Subject } from "./playground";

export interface Try {
  readonly id: string;
  readonly n: number;
  readonly draft: Draft;
  readonly state: "running" | "done" | "failed" | "stopped";
  readonly text: string;
  readonly reasoning: string;
  readonly value?: unknown;
  readonly usage?: unknown;
  readonly millis?: number;
  readonly exchange?: ExchangeView;
  readonly problem?: ShownProblem;
}

/** Tries that are kept of one exchange. */
const MOST = 30;

interface Playground {
  readonly subject: Subject | null;
  readonly tries: Readonly<Record<string, readonly Try[]>>;
}

export const usePlayground = create<Playground>(() => ({ subject: null, tries: {} }));

export const keyOf = ({ threadId, taskId, exchange }: Subject): string =>
  `${threadId}/${taskId}/${exchange.at}`;

export const openPlayground = (subject: Subject): void => usePlayground.setState({ subject });
export const closePlayground = (): void => usePlayground.setState({ subject: null });

function change(key: string, id: string, change: (one: Try) => Try): void {
  usePlayground.setState(({ tries }) => ({
    tries: { ...tries, [key]: (tries[key] ?? []).map((one) => (one.id === id ? change(one) : one)) },
  }));
}

export function removeTry(key: string, id: string): void {
  stopTry(id);
  usePlayground.setState(({ tries }) => ({
    tries: { ...tries, [key]: (tries[key] ?? []).filter((one) => one.id !== id) },
  }));
}

export function stopTry(id: string): void {
  stopped.add(id);
  // One that is over has nothing to stop.
  rpc("work.cancel", { work: id }).catch(() => {});
}
const stopped = new Set<string>();

/** Sends a request and follows its answer; the newest try stands first. */
export async function runTry(subject: Subject, graphId: string, draft: Draft): Promise<void> {
  const key = keyOf(subject);
  const id = `playground-${crypto.randomUUID()}`;
  const before = usePlayground.getState().tries[key] ?? [];
  const begun: Try = {
    id,
    n: (before[0]?.n ?? 0) + 1,
    draft,
    state: "running",
    text: "",
    reasoning: "",
  };
  usePlayground.setState(({ tries }) => ({ tries: { ...tries, [key]: [begun, ...before].slice(0, MOST) } }));
  const leave = subscribe(
    (events) => {
      let [text, reasoning] = ["", ""];
      for (const event of events) {
        if (event.type !== "answer" || event.work !== id) continue;
        if (event.piece.type === "text") text += event.piece.text;
        else if (event.piece.type === "reasoning") reasoning += event.piece.text;
      }
      if (text !== "" || reasoning !== "")
        change(key, id, (one) => ({
          ...one,
          text: one.text + text,
          reasoning: one.reasoning + reasoning,
        }));
    },
    () => {},
  );
  const { node, packet, threadId, from } = subject;
  try {
    const answer = await trusted(() =>
      rpc("model.ask", {
        graphId,
        ...(node !== null && { node }),
        ...(packet === undefined && node !== null && { at: { threadId, checkpointId: from } }),
        state: isState(packet) ? packet : {},
        model: draft.model,
        request: requestOf(draft),
        ...(draft.replay && { recording: "replay" as const }),
        work: id,
      }),
    );
    const exchange = answer.exchanges.at(-1);
    change(key, id, (one) => ({
      ...one,
      state: answer.error === undefined ? "done" : "failed",
      text: exchange?.answer ?? one.text,
      value: answer.value,
      usage: answer.usage,
      millis: answer.millis,
      ...(exchange && { exchange }),
      ...(answer.error !== undefined && {
        problem: { code: "failed", message: readableError(answer.error) },
      }),
    }));
  } catch (thrown) {
    const problem = asProblem(thrown);
    change(key, id, (one) => ({
      ...one,
      state: stopped.has(id) ? "stopped" : "failed",
      ...(!stopped.has(id) && { problem }),
    }));
  } finally {
    leave();
    stopped.delete(id);
  }
}

const isState = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
