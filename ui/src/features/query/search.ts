/** The search that Find in threads shows. */
import type { FindMoments } from "../../ipc/bindings/FindMoments";
import type { MomentFound } from "../../ipc/bindings/MomentFound";
import { rpc } from "../../ipc/client";
import { createWalk } from "./walk";

const walk = createWalk<MomentFound>();

export const searchWalk = walk;
export const useSearch = walk.use;
export const stopSearch = walk.stop;

/** Searches from the beginning; without a request there is nothing to show. */
export function startSearch(request: FindMoments | null): Promise<void> {
  if (request === null) return walk.start(null);
  return walk.start(async (after) => {
    const { moments, progress } = await rpc(
      "moments.find",
      after === undefined ? request : { ...request, after },
    );
    return { rows: moments, progress };
  });
}
