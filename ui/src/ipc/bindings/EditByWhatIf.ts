import type { WhatIfRow } from "./WhatIfRow";
export type EditByWhatIf = { graphId: string, row: WhatIfRow };
