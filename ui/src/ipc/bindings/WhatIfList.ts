import type { WhatIfView } from "./WhatIfView";
export type WhatIfList = { grids: Array<WhatIfView> };
