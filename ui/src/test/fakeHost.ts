/**
 * A host for looking at the interface without a workbench. Only development and tests use it; the production bundle
 * does not contain it.
 */
import type { Host } from "../ipc/host";

export function fakeHost(): Host {
  throw new Error("not yet");
}
