
export type TextMatch = { record: string, kind?: string, disabled?: boolean, pointer?: string, named?: boolean, index: number, line: number, before: string, text: string, after: string, replaced?: string, };
