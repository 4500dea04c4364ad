import type { Difference } from "./Difference";
import type { ExchangeCost } from "./ExchangeCost";
import type { Problem } from "./Problem";
import type { ValueView } from "./ValueView";
import type { WhatIfStatus } from "./WhatIfStatus";
export type WhatIfResult = { row: number, repeat: number, status: WhatIfStatus, checkpointId?: string, problem?: Problem, asks?: string, node?: string, output: Record<string, ValueView>, changes: Array<Difference>, changed: number, steps: number, tokens: number, cost: Array<ExchangeCost>, unpriced: boolean, millis: number, score?: any, scoreNote?: string };
