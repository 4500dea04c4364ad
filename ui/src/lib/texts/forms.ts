/** Words of the forms, panels and dialogs. */
export const forms = {} as const satisfies Record<string, string>;
