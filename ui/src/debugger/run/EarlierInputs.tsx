/** Up and down in the fields of an input, and two buttons, walk through what the graph was given before. */
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, useSyncExternalStore } from "react";
import { flushSync } from "react-dom";
import { IconButton } from "../../components/IconButton";
import { doc } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { showProblem, showToast } from "../../state/toasts";
import { isObject } from "../parts/diff";
import { type Input, inputsOf } from "./earlier-inputs";
import { caretAfter, InputWalk, walkOf } from "./walk-inputs";

/** Walks outlive what shows them: the interface is mounted again with another language. */
const walks = new Map<string, InputWalk<unknown>>();

/** One walk for each field of each graph. `read` takes what belongs in the field out of an input; null when that is nothing. */
function walkFor<T>(field: string, graph: string, read: (input: Input) => T | null): InputWalk<T> {
  const name = `${field}:${graph}`;
  const known = walks.get(name);
  if (known) return known as InputWalk<T>;
  const walk = new InputWalk<T>(() => valuesOf(read));
  walks.set(name, walk as InputWalk<unknown>);
  return walk;
}

async function* valuesOf<T>(read: (input: Input) => T | null): AsyncGenerator<T> {
  const { graphId } = useSession.getState();
  if (graphId === null) return;
  const baseOf = (name: string): unknown => {
    const key = doc.get(`key:${name}`);
    return isObject(key) ? key["default"] : undefined;
  };
  for await (const input of inputsOf(graphId, baseOf)) {
    const value = read(input);
    if (value !== null) yield value;
  }
}

export interface EarlierInputs {
  /** The place of the walk: 0 is what was typed. */
  readonly at: number;
  onKeyDown(event: KeyboardEvent): void;
  move(by: 1 | -1): Promise<boolean>;
  /** What is in the field has been sent. */
  end(): void;
}

export function useEarlierInputs<T>(
  field: string,
  read: (input: Input) => T | null,
  current: T,
  put: (value: T) => void,
): EarlierInputs {
  const graph = useSession((session) => session.graphKey) ?? "";
  const walk = walkFor(field, graph, read);
  const at = useSyncExternalStore(walk.subscribe, () => walk.at);
  const move = async (by: 1 | -1): Promise<boolean> => {
    const focused = document.activeElement;
    try {
      const value = await walk.move(by, current);
      // Another graph may have been opened while the threads were read.
      if (value === null || (useSession.getState().graphKey ?? "") !== graph) return value !== null;
      flushSync(() => put(value));
      if (document.activeElement === focused) caretAfter(focused, by);
      return true;
    } catch (thrown) {
      showProblem(thrown);
      return true;
    }
  };
  return {
    at,
    move,
    end: () => walk.end(),
    onKeyDown: (event) => {
      const by = walkOf(event);
      if (by === null || (by === -1 && at === 0)) return;
      event.preventDefault();
      void move(by);
    },
  };
}

export function EarlierButtons({ earlier }: { earlier: EarlierInputs }) {
  return (
    <span className="flex items-center">
      <IconButton
        size="small"
        label={t("debug.input.earlier")}
        shortcut="ArrowUp"
        onClick={() => {
          void earlier.move(1).then((moved) => {
            if (!moved) showToast({ tone: "info", text: t("debug.input.noEarlier") });
          });
        }}
        data-testid={debugIds.earlierInput}
      >
        <ArrowUp size={13} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label={t("debug.input.later")}
        shortcut="ArrowDown"
        disabled={earlier.at === 0}
        onClick={() => void earlier.move(-1)}
        data-testid={debugIds.laterInput}
      >
        <ArrowDown size={13} aria-hidden />
      </IconButton>
    </span>
  );
}
