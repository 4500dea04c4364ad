/** Test ids of the debugger and the inbox. */
export const debugIds = {} as const;
