// Makes a checkpoint database the way a JavaScript program does, and writes what the library itself reads from it.
// Usage: node make.mjs OUT.sqlite|postgres://… > expected.json   (beside it: npm install @langchain/langgraph
// @langchain/langgraph-checkpoint-sqlite @langchain/langgraph-checkpoint-postgres @langchain/core)
import { Annotation, Command, END, MessagesAnnotation, Send, START, StateGraph, interrupt } from "@langchain/langgraph";
import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { Document } from "@langchain/core/documents";

const append = { reducer: (a, b) => a.concat(b), default: () => [] };
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  log: Annotation(append),
  total: Annotation({ reducer: (a, b) => a + b, default: () => 0 }),
  lines: Annotation(),
  values: Annotation(),
  draft: Annotation(),
  verdict: Annotation(),
});
const Inner = Annotation.Root({ log: Annotation(append), draft: Annotation() });

const inner = new StateGraph(Inner)
  .addNode("write", () => ({ draft: "Dear customer, 43.50 EUR.", log: ["write"] }))
  .addNode("ask", (state) => ({ log: [`answer ${interrupt({ question: "Pay 43.50?", draft: state.draft })}`] }))
  .addEdge(START, "write").addEdge("write", "ask").addEdge("ask", END);

const call = { name: "price", args: { what: "lamp" }, id: "call_1", type: "tool_call" };
const graph = new StateGraph(State)
  .addNode("read", () => ({
    lines: [{ what: "lamp", cents: 4000 }, { what: "bulb", cents: 350 }],
    log: ["read"],
    messages: [new AIMessage({ content: "Looking it up.", id: "ai-1", tool_calls: [call], usage_metadata: { input_tokens: 12, output_tokens: 5, total_tokens: 17 } })],
    values: {
      when: new Date("2026-03-01T09:30:00Z"), tags: new Set(["a", "b"]), sizes: new Map([["s", 1], [2, "m"]]), raw: new Uint8Array([0, 1]),
      pattern: /^a+$/i, error: new RangeError("too far"), doc: new Document({ pageContent: "text", metadata: { page: 3 } }),
      big: 2 ** 60, none: null, text: "Grüße 日 \u{1F600}", nested: [[1, { a: [] }]], flag: false, half: 0.5,
    },
  }))
  .addNode("cost", ({ line }) => ({ total: line.cents, log: [`cost ${line.what}`] }))
  .addNode("join", () => ({
    messages: [new ToolMessage({ content: "4350", tool_call_id: "call_1", id: "tool-1" }), new AIMessage({ content: "43.50 EUR", id: "ai-2" })],
    log: ["join"],
  }))
  .addNode("decide", () => ({ verdict: "paid", log: ["decide"] }))
  .addNode("review", inner.compile())
  .addEdge(START, "read")
  .addConditionalEdges("read", (state) => state.lines.map((line) => new Send("cost", { line })), ["cost"])
  .addEdge("cost", "join").addEdge("join", "review").addEdge("review", "decide").addEdge("decide", END);

const parallel = new StateGraph(Inner)
  .addNode("a", () => ({ log: [`a ${interrupt("a?")}`] }))
  .addNode("b", () => ({ log: [`b ${interrupt("b?")}`] }))
  .addNode("end", () => ({ log: ["end"] }))
  .addEdge(START, "a").addEdge(START, "b").addEdge(["a", "b"], "end");

const fails = new StateGraph(Inner)
  .addNode("fine", () => ({ log: ["fine"] }))
  .addNode("boom", () => { throw new TypeError("it broke"); })
  .addEdge(START, "fine").addEdge(START, "boom");

async function saverOf(place) {
  if (!place.startsWith("postgres")) {
    const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
    return SqliteSaver.fromConnString(place);
  }
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const saver = PostgresSaver.fromConnString(place);
  await saver.setup();
  return saver;
}

const conf = (config) => config && { ns: config.configurable.checkpoint_ns ?? "", id: config.configurable.checkpoint_id ?? null };
const entry = (s) => ({
  config: conf(s.config), parent: conf(s.parentConfig) ?? null, created_at: s.createdAt, step: s.metadata.step, source: s.metadata.source,
  next: [...s.next], log: s.values.log ?? null, verdict: s.values.verdict ?? null, total: s.values.total ?? null,
  messages: (s.values.messages ?? []).map((m) => ({ type: m.getType(), content: m.content, id: m.id ?? null })),
  tasks: s.tasks.map((t) => ({
    id: t.id, name: t.name, error: t.error === undefined ? null : (t.error.message ?? String(t.error)), interrupts: t.interrupts.map((i) => ({ id: i.id ?? null, value: i.value })),
    state: t.state?.configurable ? conf(t.state) : null,
  })),
});

async function main(place) {
  const saver = await saverOf(place);
  const app = graph.compile({ checkpointer: saver });
  const first = () => ({ messages: [new SystemMessage({ content: "Be brief.", id: "sys" }), new HumanMessage({ content: "My lamp is broken", id: "h-1" })], log: ["in"], total: 0 });
  const at = (thread) => ({ configurable: { thread_id: thread }, metadata: { customer: "c-17" }, tags: ["demo"] });
  await app.invoke(first(), at("done"));
  await app.invoke(new Command({ resume: "yes" }), at("done"));
  await app.invoke(first(), at("waiting"));
  await app.invoke(first(), at("forked"));
  await app.invoke(new Command({ resume: "no" }), at("forked"));
  for await (const past of app.getStateHistory(at("forked"))) {
    if (past.next.length !== 1 || past.next[0] !== "join") continue;
    const edited = await app.updateState(past.config, { total: 100 }, "cost");
    await app.invoke(null, edited);
    break;
  }
  const two = parallel.compile({ checkpointer: saver });
  await two.invoke({ log: ["in"] }, at("parallel"));
  const asked = (await two.getState(at("parallel"))).tasks.flatMap((task) => task.interrupts);
  await two.invoke(new Command({ resume: { [asked[0].id]: "A" } }), at("parallel"));
  const broken = fails.compile({ checkpointer: saver });
  await broken.invoke({ log: ["in"] }, at("fails")).catch(() => {});
  const out = {};
  for (const [thread, program] of [["done", app], ["waiting", app], ["forked", app], ["parallel", two], ["fails", broken]]) {
    out[thread] = [];
    for await (const state of program.getStateHistory(at(thread))) out[thread].push(entry(state));
  }
  process.stdout.write(JSON.stringify(out, null, 1));
  if (saver.end) await saver.end();
}

await main(process.argv[2]);
