export type ListWhatIfs = { threadId: string };
