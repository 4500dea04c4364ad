import type { TaskEmitted } from "./TaskEmitted";
import type { TaskInput } from "./TaskInput";
import type { TraceSpan } from "./TraceSpan";
export type TaskDetail = { input: TaskInput, emitted: Array<TaskEmitted>, moreEmitted: boolean, spans: Array<TraceSpan>, effect?: string, instead?: string, unworked?: boolean, };
