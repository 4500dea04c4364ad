
export type MatchPlace = { record: string, pointer: string, index: number, };
