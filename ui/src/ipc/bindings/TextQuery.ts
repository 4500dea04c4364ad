
export type TextQuery = { text: string, regex: boolean, wholeWord: boolean, matchCase: boolean, };
