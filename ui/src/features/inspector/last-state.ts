/** The state that fields of a form are tried with: of the moment that is looked at, of the last run, or a sample. */
import { useEffect, useMemo, useRef, useState } from "react";
import { samplesOf } from "../../debugger/run/run-input";
import type { ValueLookup } from "../../components/code/known-values";
import { useRecord } from "../../document/store";
import type { CheckpointRef } from "../../ipc/bindings/CheckpointRef";
import { rpc } from "../../ipc/client";
import { t } from "../../lib/texts";
import { isObject } from "../../document/types";
import { useSession } from "../../state/session";

export interface LastState {
  /** Whose it is, in words. */
  readonly label: string;
  readonly at?: CheckpointRef;
  readonly state: Readonly<Record<string, unknown>>;
}

const NOTHING: Readonly<Record<string, unknown>> = {};

/** Null when there is nothing but what the keys begin with. */
export function useLastState(): LastState | null {
  const graphId = useSession((session) => session.graphId);
  const threadId = useSession((session) => session.cursor.threadId);
  const checkpointId = useSession((session) => session.cursor.checkpointId);
  const [newest, setNewest] = useState<string | null>(null);
  const head = useRecord("doc");
  useEffect(() => {
    setNewest(null);
    if (graphId === null || threadId !== null) return;
    const abort = new AbortController();
    rpc("thread.list", { graphId, limit: 1 }, abort.signal).then(
      ({ threads }) => setNewest(threads[0]?.threadId ?? null),
      () => {
        // There is still a sample, or nothing.
      },
    );
    return () => abort.abort();
  }, [graphId, threadId]);
  return useMemo(() => {
    const thread = threadId ?? newest;
    if (thread !== null)
      return {
        label: t(checkpointId === null ? "forms.live.run" : "forms.live.moment"),
        at: { threadId: thread, ...(threadId !== null && checkpointId !== null && { checkpointId }) },
        state: NOTHING,
      };
    const sample = (isObject(head) ? samplesOf(head) : [])[0];
    return sample === undefined
      ? null
      : { label: t("forms.live.sample", { name: sample.name }), state: sample.input };
  }, [threadId, checkpointId, newest, head]);
}

/** Looks up what expressions give with that state, for editors; null while there is none. */
export function useValueLookup(): ValueLookup | null {
  const graphId = useSession((session) => session.graphId);
  const last = useLastState();
  const latest = useRef(last);
  latest.current = last;
  const none = last === null;
  // The same as long as the graph is the same: editors are set up again with another one.
  return useMemo(() => {
    if (graphId === null || none) return null;
    const evaluate = async (text: string) => {
      const { at, state = NOTHING } = latest.current ?? {};
      const asked = { graphId, text, template: false, state, variables: {}, ...(at && { at }) };
      const { value, message } = await rpc("expression.evaluate", asked);
      if (value === undefined) throw new Error(message);
      return value;
    };
    return async (text) => {
      const view = await evaluate(text);
      if (view.value !== undefined || view.kind !== "object") return view.value ?? view.head;
      // Too large to come along: the names in it are enough.
      const { value } = await evaluate(`${text}|list`);
      const names: readonly unknown[] = Array.isArray(value) ? value : [];
      return Object.fromEntries(names.map((name) => [String(name), undefined]));
    };
  }, [graphId, none]);
}
