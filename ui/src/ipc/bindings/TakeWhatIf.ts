export type TakeWhatIf = { threadId: string, id: string, row: number, repeat: number, takeOver?: boolean };
