/** Test ids of the forms, panels and dialogs. */
export const formsIds = {} as const;
