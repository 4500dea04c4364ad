
export type KeptSteps = { steps?: any, dropped: boolean, };
