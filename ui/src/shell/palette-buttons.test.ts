/**
 * The command palette has every action that a button of the window has. The buttons are read from the sources: each runs a
 * command, is named as one, or stands in a file whose buttons mean nothing elsewhere, with the reason. A button that is
 * new, and a reason whose file is gone, fail here.
 */
import { expect, it } from "vitest";
import { sources } from "../test/sources";

/** Files whose buttons work on what they stand in. */
const LOCAL: Readonly<Record<string, readonly RegExp[]>> = {
  "parts that others are made of": [
    /^components\//,
    /^shell\/Panel(Boundary)?\.tsx$/,
    /^debugger\/parts\//,
    /^debugger\/run\/ProblemNote/,
  ],
  "buttons of a dialog or a form, which is opened by a command": [
    /Dialogs?\.tsx$/,
    /^features\/(connections|memory|secrets|servers|settings|storage|trust|playground|what-if|node-test)\//,
    /^features\/inspector\/(ChoicesEditor|ContextSection|editors|EdgeInspector|GraphInspector|PolicySection)\.tsx$/,
    /^features\/invariants\/InvariantsSection\.tsx$/,
    /^features\/export\/PictureTab\.tsx$/,
    /^features\/state-schema\/(StatePanel|KeyEditor)\.tsx$/,
    /^features\/state-view\/(ValueEditor|EditBar)\.tsx$/,
    /^features\/query\//,
    /^debugger\/answers\//,
    /^debugger\/run\/(ContextSetsMenu|RunForm|RunLabels|RunModels|EarlierInputs)\.tsx$/,
    /^canvas\/Arranging\.tsx$/,
  ],
  "buttons of one row, card or message": [
    /^features\/compare\/IgnoredLine\.tsx$/,
    /^features\/inbox\//,
    /^features\/find\/Find(Bar|Panel|Rows)\.tsx$/,
    /^features\/git\/(ChangesPanel|ConflictView)\.tsx$/,
    /^features\/outline\/OutlineRow\.tsx$/,
    /^features\/palette\//,
    /^features\/result\//,
    /^features\/state-view\/(TreeRow|KeyHistory|Provenance|Task|TaskPage|TasksTab|Visits|StopReason|GraphMovedLine|StateToolbar|StateInspector)\.tsx$/,
    /^features\/stream\/Chat\.tsx$/,
    /^features\/versions\/(CommitList|VersionRow|VersionsPanel|VersionDiff)\.tsx$/,
    /^features\/watches\/WatchList\.tsx$/,
    /^features\/breakpoints\/BreakpointList\.tsx$/,
    /^features\/threads\/(labels|saved-searches|ThreadColumn)\.tsx$/,
    /^features\/problems\//,
    /^features\/inspector\/(DisabledNotice|ErrorWayInspector|PinNotice|VariantsMenu)\.tsx$/,
    /^debugger\/(exchanges|run)\/(Exchanges|NotRetried|RunProblem)\.tsx$/,
  ],
};

/** What a button is called, and the command that does the same; an end in `.` stands for all commands that begin so. */
const COMMANDS: Readonly<Record<string, string>> = {
  "debug.answer": "run.answer",
  "debug.backToNow": "debug.backToNow",
  "debug.clear": "stream.clear",
  "debug.continue": "run.continue",
  "debug.input": "run.withInput",
  "debug.pause": "run.pause",
  "debug.run": "run.start",
  "debug.snooze.hour": "run.snooze.",
  "debug.snooze.tomorrow": "run.snooze.",
  "debug.snooze.end": "run.snooze.",
  "debug.step": "run.step",
  "debug.stepInto": "run.stepInto",
  "debug.stop": "run.stop",
  "debug.takeOver.confirm": "run.continue",
  "debug.hand.delegate": "run.hand.",
  "debug.hand.escalate": "run.hand.",
  "debug.hand.back": "run.hand.",
  "debug.withdraw": "run.withdraw",
  "playback.pause": "debug.play",
  "playback.play": "debug.play",
  "disabled.disable": "edit.disable",
  "disabled.enable": "edit.disable",
  "expand.expand": "view.expandNode",
  "expand.fold": "view.expandNode",
  "debug.compare.close": "compare.close",
  "debug.compare.swap": "compare.swap",
  "debug.now": "debug.backToNow",
  "debug.replay": "run.replay",
  "debug.stepOut": "run.stepOut",
  "debug.test": "node.test",
  "debug.threads.new": "debug.newThread",
  "debug.threads.start": "debug.newThread",
  "folds.unfold": "view.foldFrame",
  "forms.inspector.delete": "edit.delete",
  "forms.inspector.openInside": "graph.openNested",
  "forms.many.${way}": "align.",
  "forms.many.delete": "edit.delete",
  "forms.versions.restore": "version.restore",
  "invariants.add": "invariants.add",
  "invariants.check": "invariants.check",
  "prices.ask": "prices.ask",
  "prices.missing": "prices.ask",
  "shell.history": "edit.history",
  "shell.nested.look": "run.showNested",
  "shell.unfold.${side}": "panel.",
  "trace.heat.close": "trace.heat.",
  "versions.compare": "version.compare",
  "versions.showCurrent": "version.current",
  "wires.hidden.show": "view.showWires",
};

/** Buttons of panels that only change what the panel shows. */
const SHOWS: ReadonlySet<string> = new Set([
  "debug.more",
  "debug.threads.filter",
  "debug.threads.showAll",
  "debug.stream.showAll",
  "debug.timeline.foldAgain",
  "debug.timeline.forks",
  "debug.timeline.only",
  "debug.timeline.onlyClear",
  "forks.fold",
  "forks.nested",
  "forks.nestedOff",
  "forks.unfold",
  "forks.legend",
  "fileText.versions",
  "forms.inspector.changeKind",
  "overview.show",
  "shell.menu",
  "shell.panel.retry",
  "tabs.all",
  "trace.clear",
  "trace.criticalHelp",
  "trace.goDearest",
  "trace.goLongest",
  "whatIf.showBranches",
  "wires.legend",
]);

interface Found {
  readonly file: string;
  readonly key: string | undefined;
  readonly command: string | undefined;
}

const all = sources(".ts", ".tsx").map(({ path, text }) => [path, text] as const);
const local = (file: string) => Object.values(LOCAL).some((files) => files.some((each) => each.test(file)));

function buttons(): Found[] {
  return all
    .filter(([file]) => file.endsWith(".tsx") && !file.includes("/bench/"))
    .flatMap(([file, text]) =>
      [...text.matchAll(/<(IconButton|Button|ToolButton)\b[\s\S]*?(?:<\/\1>|\/>\n)/g)].flatMap(
        ([element]) => {
          const command = /runCommand\("([^"]+)"\)/.exec(element)?.[1];
          const keys = keysIn(element);
          return (keys.length === 0 ? [undefined] : keys).map((key) => ({ file, key, command }));
        },
      ),
    );
}

/** What a button is called: by its first text, by either text of a choice, or by a table that its file keeps of several. */
function keysIn(element: string): string[] {
  const [, choice] = /\bt\(([^()]*\?[^()]*)\)/.exec(element) ?? [];
  if (choice !== undefined) return [...choice.matchAll(/"([\w.]+)"/g)].map(([, key]) => key ?? "");
  const key = /\bt\(\s*["`]([^"`]+)["`]/.exec(element)?.[1];
  return key === undefined ? [] : [key];
}

/** Buttons that change what they are called: `{ text: "…", hint: "…" }` in a table, and entries of menus. */
function tables(): Found[] {
  return all
    .filter(([file]) => file.endsWith(".tsx"))
    .flatMap(([file, text]) =>
      [
        ...text.matchAll(/\{ text: "([\w.]+)", hint: /g),
        ...(file.startsWith("features/inbox/") ? text.matchAll(/label: t\("([\w.]+)"\)/g) : []),
      ].map(([, key]) => ({ file, key, command: undefined })),
    );
}

/** Commands by the ids that the sources give them; of one that is put together, its beginning. */
const ids = new Set(
  all
    .flatMap(([, text]) => [...text.matchAll(/\bid: (?:"([\w-]+\.[\w.-]+)"|`([\w-]+\.(?:[\w-]+\.)*)\$\{)/g)])
    .flatMap(([, whole, beginning]) => [whole ?? beginning ?? ""]),
);

it("finds the buttons and the commands", () => {
  expect(buttons().length).toBeGreaterThan(200);
  expect(ids.size).toBeGreaterThan(100);
});

it("has a command for every button that is not bound to its place", () => {
  const tabled = tables();
  const without = [...buttons(), ...tabled].filter((found) => {
    const { file, key, command } = found;
    if (local(file) && !tabled.includes(found)) return false;
    if (command !== undefined) return !ids.has(command);
    return key === undefined ? false : !(key in COMMANDS) && !SHOWS.has(key);
  });
  expect(without.map(({ file, key }) => `${file}: ${key ?? "?"}`)).toEqual([]);
});

it("runs commands that there are", () => {
  expect(Object.values(COMMANDS).filter((id) => !ids.has(id))).toEqual([]);
  const run = all.flatMap(([, text]) =>
    [...text.matchAll(/runCommand\("([^"]+)"\)/g)].map(([, id]) => id ?? ""),
  );
  expect(run.filter((id) => !ids.has(id))).toEqual([]);
});

it("names nothing that is gone", () => {
  const found = buttons();
  const keys = new Set([...found.filter(({ file }) => !local(file)), ...tables()].map(({ key }) => key));
  expect([...Object.keys(COMMANDS), ...SHOWS].filter((key) => !keys.has(key))).toEqual([]);
  const files = found.map(({ file }) => file);
  const unused = Object.values(LOCAL)
    .flat()
    .filter((each) => !files.some((file) => each.test(file)));
  expect(unused.map(String)).toEqual([]);
});
