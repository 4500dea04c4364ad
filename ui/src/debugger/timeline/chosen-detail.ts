/** The level of detail of the timeline that a person chose; until then it follows the length of the thread. */
import { create } from "zustand";
import { type Detail, DETAILS } from "./detail";

/** Threads with more checkpoints than this begin with their stretches folded. */
const MANY = 40;

export const useChosenDetail = create<{ readonly detail: Detail | null }>(() => ({ detail: null }));

export const chooseDetail = (detail: Detail): void => useChosenDetail.setState({ detail });

/** The level at which a list is shown. */
export const detailOf = (chosen: Detail | null, checkpoints: number): Detail =>
  chosen ?? (checkpoints > MANY ? "stretches" : "steps");

/** The next level with more (1) or less (-1) detail. */
export const detailBy = (detail: Detail, by: -1 | 1): Detail =>
  DETAILS[DETAILS.indexOf(detail) + by] ?? detail;
