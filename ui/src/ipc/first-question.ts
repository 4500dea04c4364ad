/** What the host says of itself, asked before most of the program is set up: the window waits for nothing as long. */
import type { AppInfo } from "./bindings/AppInfo";
import { rpc } from "./client";

let asked: Promise<AppInfo> | null = null;

export function askFirst(): void {
  asked = rpc("app.info", {});
  // What takes the answer learns what went wrong.
  asked.catch(() => {});
}

/** The answer to the first question; asks when it has been taken. */
export function firstAnswer(): Promise<AppInfo> {
  const answer = asked ?? rpc("app.info", {});
  asked = null;
  return answer;
}
