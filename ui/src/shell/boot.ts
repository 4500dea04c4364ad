/** What happens when the window opens: ask who we are, find documents that are still open, listen to events, take keys. */
import { useCallback, useEffect, useState } from "react";
import { followBreakpoints } from "../debugger/run/breakpoints";
import { followPins } from "../debugger/run/pins";
import { followStops } from "../debugger/run/stops";
import { followInbox } from "../debugger/model/inbox";
import { closeToasts } from "../components/Toast";
import { doc, useDocumentState } from "../document/store";
import { flush, followDiagnostics, lookElsewhere, openGraph, reopenGraph } from "../document/open-graph";
import { beforeRecovery, host, rpc, RpcProblem } from "../ipc/client";
import { firstAnswer } from "../ipc/first-question";
import { t } from "../lib/texts";
import { followLongPresses } from "../state/long-press";
import { dispatchKey, followFocus } from "../state/commands";
import { registerScaleCommands } from "../state/scale";
import { useSession } from "../state/session";
import { openMoment } from "../debugger/run/open-moment";
import { followGit } from "../features/git";
import { registerMomentCommands } from "../features/timeline";
import { registerTraceCommands } from "../features/trace";
import { followMoments, momentOf, restoreMoment } from "../state/moment-history";
import { followTabs, restoreTabs } from "./graph-tabs";
import { followFiles } from "./incoming";
import { registerPanelCommands } from "./panel-commands";
import { followSeen } from "../debugger/run/seen";
import { registerShellCommands } from "./shell-commands";

type Boot =
  | { readonly state: "starting" | "ready" }
  | { readonly state: "failed"; readonly problem: RpcProblem; readonly retry: () => void };

async function start(): Promise<void> {
  const info = await firstAnswer();
  useSession.getState().setAppInfo(info);
  followInbox();
  followBreakpoints();
  followPins();
  followStops();
  // A window that was reloaded finds the documents it had, and the moment.
  const none = () => useDocumentState.getState().graphId === null;
  const last = none() ? await restoreTabs(info.open) : null;
  if (last !== null && none()) {
    const view = await rpc("graph.get", { graphId: last });
    if (none()) {
      openGraph(view);
      restoreMoment();
    }
  }
  await openLinked();
}

/** Shows the moment that the address of the page names, and takes it out of the address. */
async function openLinked(): Promise<void> {
  const moment = momentOf(window.location.hash);
  if (!moment) return;
  window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  await openMoment(moment);
}

/** The host is back, perhaps as another process that knows of no open graph. */
async function goOn(): Promise<void> {
  await reopenGraph();
  useSession.getState().setAppInfo(await rpc("app.info", {}));
}

export function useBoot(): Boot {
  // The window is mounted again when the language changes; it has begun then.
  const begun = useSession.getState().appInfo !== null;
  const [boot, setBoot] = useState<Boot>({ state: begun ? "ready" : "starting" });
  const begin = useCallback(() => {
    setBoot({ state: "starting" });
    start().then(
      () => setBoot({ state: "ready" }),
      (thrown: unknown) => setBoot({ state: "failed", problem: RpcProblem.from(thrown), retry: begin }),
    );
  }, []);

  useEffect(() => {
    if (useSession.getState().appInfo === null) begin();
  }, [begin]);

  useEffect(() => {
    const undo = [
      registerShellCommands(),
      registerPanelCommands(),
      registerMomentCommands(),
      registerTraceCommands(),
      registerScaleCommands(),
      followMoments(),
      beforeRecovery(goOn),
      followDiagnostics(),
      followFiles(),
      followLongPresses(),
      followTabs(),
      followGit(),
      followSeen(),
      followPages(),
      followTheme(),
      followTitle(),
      followFocus(),
    ];
    const onKey = (event: KeyboardEvent) => void dispatchKey(event);
    const onLeave = () => void flush();
    // The graph may have been edited in another window meanwhile.
    const onFocus = () => void lookElsewhere();
    const onHash = () => void openLinked();
    window.addEventListener("hashchange", onHash);
    window.addEventListener("focus", onFocus);
    window.addEventListener("keydown", onKey);
    window.addEventListener("pagehide", onLeave);
    return () => {
      undo.forEach((each) => each());
      window.removeEventListener("hashchange", onHash);
      window.removeEventListener("focus", onFocus);
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("pagehide", onLeave);
    };
  }, []);

  return boot;
}

/** A note belongs to its page, and goes with it: another use of the window, another graph, or the start screen. */
export function followPages(): () => void {
  return useSession.subscribe((now, before) => {
    if (now.use !== before.use || now.graphId !== before.graphId) closeToasts();
  });
}

function followTheme(): () => void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const { theme } = useSession.getState();
    document.documentElement.dataset["theme"] =
      theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  };
  apply();
  // Drawings read the colours when the theme is set, also when it is the same in other colours.
  const queries = [
    dark,
    window.matchMedia("(forced-colors: active)"),
    window.matchMedia("(prefers-contrast: more)"),
  ];
  for (const query of queries) query.addEventListener("change", apply);
  const stop = useSession.subscribe((state, before) => {
    if (state.theme !== before.theme) apply();
  });
  return () => {
    for (const query of queries) query.removeEventListener("change", apply);
    stop();
  };
}

function followTitle(): () => void {
  let shown = "";
  const apply = () => {
    const { graphId, dirty, moved } = useDocumentState.getState();
    const name = graphId === null ? null : documentName();
    const title =
      name === null ? t("shell.app") : `${dirty && !moved ? "• " : ""}${name} – ${t("shell.app")}`;
    if (title === shown) return;
    shown = title;
    host.setTitle(title);
  };
  apply();
  return useDocumentState.subscribe(apply);
}

function documentName(): string {
  return doc.name || t("shell.unnamed");
}
