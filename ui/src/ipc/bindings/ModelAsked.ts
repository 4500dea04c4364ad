import type { ExchangeView } from "./ExchangeView";
export type ModelAsked = { value?: any, usage?: any, error?: string, millis: number, exchanges: Array<ExchangeView>, };
