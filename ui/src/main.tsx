/** Starts the interface: finds the host and the language, then renders. A fake host can stand in while developing (`?fake`). */
import "./ipc/ask-first";
import "./styles/app.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import type { Json } from "./document/types";
import { keepComposing } from "./lib/composing";
import { followLanguage } from "./state/language";
import { followKeys } from "./state/custom-keys";
import { restoreScale } from "./state/scale";

async function start(): Promise<void> {
  const query = new URLSearchParams(window.location.search);
  if (import.meta.env.DEV && query.has("fake")) {
    const [{ replaceHost }, { fakeHost }] = await Promise.all([
      import("./ipc/client"),
      import("./test/fakeHost"),
    ]);
    const files = import.meta.glob<Json>("../../graphs/*/graph.json", { eager: true, import: "default" });
    replaceHost(
      fakeHost(new Map(Object.entries(files).map(([path, file]) => [path.split("/").at(-2) ?? path, file]))),
    );
  }
  if (import.meta.env.DEV) {
    // For looking at what is going on from the console and from scripts that drive the page.
    const parts = await Promise.all([
      import("./document/store"),
      import("./document/open-graph"),
      import("./document/edit"),
      import("./document/undo"),
      import("./state/session"),
      import("./canvas/scene"),
      import("./shell/files"),
    ]);
    Object.assign(window, { superstep: Object.assign({}, ...parts) });
  }
  const root = document.getElementById("root");
  if (!root) throw new Error("index.html has no #root");
  if (query.get("bench") === "debugger") {
    const { DebuggerBench } = await import("./shell/bench/DebuggerBench");
    createRoot(root).render(<DebuggerBench query={query} />);
    return;
  }
  if (query.has("bench")) {
    const { Bench } = await import("./canvas/bench/Bench");
    createRoot(root).render(<Bench query={query} />);
    return;
  }
  keepComposing(window);
  followKeys();
  restoreScale();
  await followLanguage();
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}

void start();
