import type { WhatIfGrid } from "./WhatIfGrid";
export type StartWhatIf = { threadId: string, checkpointId?: string, graphId?: string, grid: WhatIfGrid };
