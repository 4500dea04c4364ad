// One workload on LangGraph.js: `runner.mjs WORKLOAD SIZE SAVER SECONDS`, one JSON object on stdout.
//
// The graphs are those of crates/engine/examples/workloads/mod.rs.

import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Annotation,
  END,
  MemorySaver,
  messagesStateReducer,
  Send,
  START,
  StateGraph,
} from "@langchain/langgraph";

const nothing = () => ({});
const appended = (read) => Annotation({ reducer: (old, more) => old.concat(more), default: () => [] });
const chosen = (choose, start) => Annotation({ reducer: choose, default: () => start });
const messages = () => Annotation({ reducer: messagesStateReducer, default: () => [] });
const state = (fields) => new StateGraph(Annotation.Root(fields));

function chainBuilder(n, extra = 0) {
  const graph = state({ x: Annotation() });
  for (let i = 0; i < n; i++) {
    graph.addNode(`n${i}`, nothing);
    graph.addEdge(i === 0 ? START : `n${i - 1}`, `n${i}`);
  }
  let seed = 1n;
  const below = (limit) => {
    seed = (seed * 6364136223846793005n + 1n) & 0xffffffffffffffffn;
    return Number(seed >> 33n) % limit;
  };
  for (let i = 0; i < extra; i++) {
    const from = below(n - 1);
    graph.addEdge(`n${from}`, `n${from + 1 + below(n - 1 - from)}`);
  }
  return graph;
}

const LISTS = ["messages", "trigger_events", "categorizations", "responses"];
const DICTS = ["slack_participants", "notified_assignees"];

const workloads = {
  chain: (size) => [chainBuilder(Number(size)), { x: 1 }, (out) => out.x],

  loop(size) {
    const graph = state({ n: Annotation() });
    for (const name of ["a", "b"]) graph.addNode(name, (s) => ({ n: s.n + 1 }));
    graph.addEdge(START, "a").addEdge("a", "b");
    graph.addConditionalEdges("b", (s) => (s.n < Number(size) ? "a" : END), ["a", END]);
    return [graph, { n: 0 }, (out) => out.n];
  },

  send(size) {
    const graph = state({ out: appended() });
    graph.addNode("w", (i) => ({ out: [i.i] })).addNode("join", nothing);
    const fan = () => Array.from({ length: Number(size) }, (_, i) => new Send("w", { i }));
    graph.addConditionalEdges(START, fan, ["w"]).addEdge("w", "join");
    return [graph, { out: [] }, (out) => out.out.length];
  },

  subgraph(size) {
    const inner = new StateGraph({
      state: Annotation.Root({ subject: Annotation(), jokes: Annotation() }),
      input: Annotation.Root({ subject: Annotation() }),
      output: Annotation.Root({ jokes: Annotation() }),
    });
    inner.addNode("edit", (s) => ({ subject: `${s.subject} - hohoho` }));
    inner.addNode("generate", (s) => ({ jokes: [`Joke about ${s.subject}`] }));
    inner.addNode("bump", (s) => ({ jokes: [`${s.jokes[0]} a`] }));
    inner.addEdge(START, "edit").addEdge("edit", "generate").addEdge("generate", "bump");
    const done = " a".repeat(10);
    inner.addConditionalEdges("bump", (s) => (s.jokes[0].endsWith(done) ? END : "bump"), ["bump", END]);
    const graph = state({ subjects: Annotation(), jokes: appended() });
    graph.addNode("joke", inner.compile());
    const fan = (s) => s.subjects.map((subject) => new Send("joke", { subject }));
    graph.addConditionalEdges(START, fan, ["joke"]);
    const subjects = Array(Number(size)).fill("q".repeat(1000));
    return [graph, { subjects }, (out) => out.jokes.length];
  },

  wide(size) {
    const [a, b, n] = { "25x300": [5, 5, 300], "15x600": [3, 5, 600], "9x1200": [3, 3, 1200] }[size];
    const text = "q".repeat(n);
    const fields = {};
    for (const key of LISTS) fields[key] = appended();
    for (const key of DICTS) fields[key] = chosen((old, more) => ({ ...old, ...more }), {});
    for (const key of ["primary_issue_medium", "issue"]) fields[key] = chosen((old, more) => more || old, null);
    for (const key of ["user_info", "crm_info", "email_thread_id"])
      fields[key] = chosen((old, more) => more ?? old, null);
    for (const key of ["autoresponse", "relevant_rules", "memory_docs", "bot_id"]) fields[key] = Annotation();
    const graph = state(fields);
    const node = (name, reads, ...writes) =>
      graph.addNode(name, (s) => {
        const value = s[reads];
        const [items, one] = Array.isArray(value) ? [value, value.at(-1)] : [[value], value];
        const write = (key) => (LISTS.includes(key) ? items : DICTS.includes(key) ? one : text);
        return Object.fromEntries(writes.map((key) => [key, write(key)]));
      });
    node("one", "messages", "trigger_events", "primary_issue_medium");
    node("two", "trigger_events", "autoresponse", "issue");
    node("three", "autoresponse", "relevant_rules");
    node("four", "trigger_events", "categorizations", "responses", "memory_docs");
    node("five", "categorizations", "user_info", "crm_info", "email_thread_id", ...DICTS, "bot_id");
    node("six", "responses", "messages");
    graph.addEdge(START, "one").addEdge("one", "two").addEdge("two", "three").addEdge("two", "four");
    graph.addEdge(["three", "four"], "five").addEdge("five", "six");
    graph.addConditionalEdges("six", (s) => (s.messages.length > n ? END : "one"), ["one", END]);
    const values = Array(5).fill(["hi?".repeat(10), true, 1, 6327816386138, null]).flat();
    const table = (count, value) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}`.repeat(10), value]));
    return [graph, { messages: [table(a, table(b, values))] }, (out) => out.messages.length];
  },

  react(size) {
    const calls = Number(size);
    const id = (kind, i) => `00000000-0000-4000-${kind}-${String(i).padStart(12, "0")}`;
    const said = Array.from({ length: calls + 1 }, (_, i) => {
      if (i === calls) return new AIMessage({ id: id("8001", i), content: "answer".repeat(100) });
      const call = { id: id("8002", i), name: "lookup", args: { query: id("8003", i).repeat(100) } };
      return new AIMessage({ id: id("8001", i), content: "", tool_calls: [{ ...call, type: "tool_call" }] });
    });
    const graph = state({ messages: messages() });
    graph.addNode("agent", (s) => ({ messages: said[s.messages.length >> 1] }));
    graph.addNode("tools", (s) => {
      const call = s.messages.at(-1).tool_calls[0];
      const content = `result for query: ${call.args.query}`.repeat(10);
      return { messages: new ToolMessage({ id: `tool-${call.id}`, tool_call_id: call.id, content }) };
    });
    graph.addEdge(START, "agent").addEdge("tools", "agent");
    const route = (s) => (s.messages.at(-1).tool_calls?.length ? "tools" : END);
    graph.addConditionalEdges("agent", route, ["tools", END]);
    const first = { messages: [new HumanMessage({ id: "first", content: "hi?" })] };
    return [graph, first, (out) => out.messages.length];
  },
};

const config = { recursionLimit: 1e9, configurable: { thread_id: "t" } };
const timed = async (work) => {
  const began = performance.now();
  const came = await work();
  return [(performance.now() - began) / 1000, came];
};

function oneRun(name, size, saver) {
  const options = () => (saver === "memory" ? { checkpointer: new MemorySaver() } : {});
  if (name === "compile")
    return () =>
      timed(() => {
        chainBuilder(Number(size), Number(size) >> 1).compile();
        return Number(size);
      });
  if (name === "talk") {
    const builder = state({ messages: messages() }).addNode("listen", nothing).addEdge(START, "listen");
    return async () => {
      const graph = builder.compile(options());
      return timed(async () => {
        let out;
        for (let i = 0; i < Number(size); i++) {
          const message = new HumanMessage({ id: `turn-${String(i).padStart(6, "0")}`, content: "x".repeat(1000) });
          out = await graph.invoke({ messages: [message] }, config);
        }
        return out.messages.length;
      });
    };
  }
  const [builder, input, measure] = workloads[name === "stream" ? "loop" : name](size);
  const kept = builder.compile(options());
  return () => {
    const graph = saver === "memory" ? builder.compile(options()) : kept;
    return timed(async () => {
      if (name !== "stream") return measure(await graph.invoke(input, config));
      let events = 0;
      for await (const _ of await graph.stream(input, { ...config, streamMode: "updates" })) events++;
      return events;
    });
  };
}

const [name, size, saver, seconds] = process.argv.slice(2);
const run = oneRun(name, size, saver);
const began = performance.now();
const [warm, came] = await run();
const times = [];
while (times.length === 0 || (performance.now() - began < seconds * 1000 && times.length < 50)) {
  // A workload that alone fills the time has been measured by its first run.
  if (times.length === 0 && warm > seconds) {
    times.push(warm);
    break;
  }
  times.push((await run())[0]);
}
console.log(JSON.stringify({ seconds: times, came_to: came }));
