/** The wires that tasks followed, as the host names them. */
import type { TakenWay } from "../../ipc/bindings/TakenWay";

/** Names a way between two nodes of which it is not known which wire it was. */
export const edgeKey = (from: string, to: string): string => `${from}\u0000${to}`;

/** The wires that a task followed; of an older record only where they led. */
export const waysOf = (task: {
  readonly ways?: readonly TakenWay[];
  readonly targets: readonly string[];
}): readonly TakenWay[] => task.ways ?? task.targets.map((to) => ({ to, times: 1 }));
