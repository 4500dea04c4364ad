import type { EffectChoice } from "./EffectChoice";
import type { RunModels } from "./RunModels";
import type { WhatIfLimit } from "./WhatIfLimit";
import type { WhatIfRow } from "./WhatIfRow";
import type { WhatIfScorer } from "./WhatIfScorer";
export type WhatIfGrid = { rows: Array<WhatIfRow>, repeat?: number, concurrency?: number, limit?: WhatIfLimit, total?: WhatIfLimit, scorer?: WhatIfScorer, effects?: { [key in string]?: EffectChoice }, keys?: Array<string>, models?: RunModels };
