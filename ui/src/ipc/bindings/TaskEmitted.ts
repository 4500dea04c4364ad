export type TaskEmitted = { at: number, value: any, };
