/** Test ids of the fork map and of playback. */
export const forksIds = {
  panel: "forks",
  summary: "forks-summary",
  map: "fork-map",
  canvas: "fork-map-canvas",
  item: "fork-item",
  branch: "fork-branch",
  fold: "fork-fold",
  nested: "fork-nested",
  nestedLane: "fork-nested-lane",
  nestedStep: "fork-nested-step",
  legend: "fork-legend",
  hover: "fork-hover",
  ghost: "fork-ghost",
  play: "playback-play",
  speed: "playback-speed",
} as const;
