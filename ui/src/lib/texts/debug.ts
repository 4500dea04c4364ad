/** Words of the debugger and the inbox. */
export const debug = {} as const satisfies Record<string, string>;
