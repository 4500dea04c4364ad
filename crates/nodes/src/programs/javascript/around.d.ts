/** Where a node runs. */
interface Place {
  readonly thread: string | null;
  readonly run: string;
  readonly node: string;
  readonly step: number;
  readonly attempt: number;
  readonly task: string;
  readonly checkpoint: string;
  readonly namespace: string;
  readonly firstAttempt: number;
  /** The run context; without one, what the run was configured with. */
  readonly user: RunContext;
}

interface Functions {
  interrupt(question: any): any;
  emit(value: any): void;
  message(value: any): void;
  progress(done: number, total?: number | null, text?: string | null): void;
  sleep(ms: number): Promise<void>;
  task<A, R>(name: string, args: A, work: (args: A, ctx: Context) => R | Promise<R>): Promise<R>;
  readonly store?: Store;
}

/** The second argument of a node's function. */
type Context = Place & Functions;

interface Item {
  namespace: string[];
  key: string;
  value: any;
  created_at: string;
  updated_at: string;
  score?: number;
}

interface Store {
  get(namespace: string | string[], key: string, options?: { refreshTtl?: boolean }): Promise<Item | null>;
  put(
    namespace: string | string[],
    key: string,
    value: object,
    options?: { index?: boolean | string[]; ttl?: number | null },
  ): Promise<void>;
  delete(namespace: string | string[], key: string): Promise<void>;
  search(
    prefix: string | string[],
    options?: { query?: string; by?: "words" | "vectors"; filter?: object; limit?: number; offset?: number; refreshTtl?: boolean },
  ): Promise<Item[]>;
  listNamespaces(options?: { prefix?: string[]; suffix?: string[]; maxDepth?: number; limit?: number; offset?: number }): Promise<string[][]>;
}

declare class Send {
  constructor(node: string, input: any);
}
declare class Command {
  static readonly PARENT: "__parent__";
  constructor(command: { update?: Partial<State>; goto?: string | Send | Array<string | Send>; graph?: "__parent__" });
}

declare const state: State;
declare const ctx: Context;
/** The run context, and where the node runs. */
declare const context: Place & Record<string, any>;
declare const config: { configurable: Record<string, any>; metadata: Record<string, any>; run_id: string };
declare function interrupt(question: any): any;
declare function emit(value: any): void;
declare function message(value: any): void;
declare function progress(done: number, total?: number | null, text?: string | null): void;
declare function sleep(ms: number): Promise<void>;
declare const task: Functions["task"];
declare const store: Store;
