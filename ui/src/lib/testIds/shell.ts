/** Test ids of the window's frame and the canvas. */
export const shellIds = {
  titleBar: "title-bar",
} as const;
