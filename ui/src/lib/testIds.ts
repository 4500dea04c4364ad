/** Stable `data-testid` values, one list per area, used by components and tests alike. */
export { debugIds } from "./testIds/debug";
export { formsIds } from "./testIds/forms";
export { memoryIds } from "./testIds/memory";
export { queryIds } from "./testIds/query";
export { safetyIds } from "./testIds/safety";
export { shellIds } from "./testIds/shell";
export { storageIds } from "./testIds/storage";
export { structureIds } from "./testIds/structure";
export { traceIds } from "./testIds/trace";
export { versionsIds } from "./testIds/versions";
