/** What-if grids: asking what would have come of something different, and reading the answer. */
export { WhatIfDialog } from "./WhatIfDialog";
export { WhatIfPanel } from "./WhatIfPanel";
