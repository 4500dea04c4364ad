import type { WhatIfBase } from "./WhatIfBase";
import type { WhatIfGrid } from "./WhatIfGrid";
import type { WhatIfResult } from "./WhatIfResult";
export type WhatIfView = { id: string, threadId: string, checkpointId: string, step: number, madeAt: string, instance: string, running: boolean, grid: WhatIfGrid, names: Array<string>, base: WhatIfBase, results: Array<WhatIfResult> };
