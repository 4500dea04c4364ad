/** Stable `data-testid` values, one list per area, used by components and tests alike. */
export { debugIds } from "./testIds/debug";
export { fileTextIds } from "./testIds/file-text";
export { findIds } from "./testIds/find";
export { forksIds } from "./testIds/forks";
export { formsIds } from "./testIds/forms";
export { gitIds } from "./testIds/git";
export { memoryIds } from "./testIds/memory";
export { overviewIds } from "./testIds/overview";
export { queryIds } from "./testIds/query";
export { safetyIds } from "./testIds/safety";
export { shellIds } from "./testIds/shell";
export { storageIds } from "./testIds/storage";
export { structureIds } from "./testIds/structure";
export { taskIds } from "./testIds/task";
export { traceIds } from "./testIds/trace";
export { whatIfIds } from "./testIds/what-if";
export { versionsIds } from "./testIds/versions";
