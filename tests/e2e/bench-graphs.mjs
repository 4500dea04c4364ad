/** Graphs of any size for the benchmarks of the canvas. */

const PROMPT = Array.from({ length: 60 }, (_, index) => `Line ${index}: say what {{ state.topic }} means for {{ state.total }}.`).join("\n");

function graphOf(name, nodes, edges, layout) {
  return {
    format: "superstep/1",
    name,
    // Nodes of a step write the same keys: without reducers a graph of 10,000 nodes has 44,687 problems.
    state: {
      total: { type: "number", reducer: "add" },
      last: { type: "array", items: { type: "string" }, reducer: "append" },
      topic: { type: "string" },
      text: { type: "string" },
    },
    nodes,
    edges,
    ...(layout && { layout }),
    recursion_limit: 1_000_000,
  };
}

const assign = (index) => ({ kind: "assign", config: { set: { total: `state.total + ${index}`, last: `'n${index}'` } } });

/** A grid with some 1.15 edges for each node, placed as it is read. The third node asks a model, with a long prompt. */
export function grid(count) {
  const columns = Math.ceil(Math.sqrt(count * 1.6));
  const nodes = {};
  const edges = [{ from: "__start__", to: "n0" }];
  const layout = { __start__: [-160, 8], __end__: [columns * 304, 8] };
  for (let index = 0; index < count; index += 1) {
    nodes[`n${index}`] =
      index === 2 ? { kind: "model", config: { model: "scripted", script: [{ say: "Done." }], prompt: PROMPT, into: "text" } } : assign(index);
    layout[`n${index}`] = [(index % columns) * 304, Math.floor(index / columns) * 160];
    if (index > 0) edges.push({ from: `n${index - 1}`, to: `n${index}` });
    if (index > 0 && index % 7 === 0 && index + columns < count) edges.push({ from: `n${index}`, to: `n${index + columns}` });
  }
  edges.push({ from: `n${count - 1}`, to: "__end__" });
  return graphOf(`Grid of ${count}`, nodes, edges, layout);
}

/** Every node leads to `degree` of the next thirty on average, without an order that helps; nobody has placed them. */
export function dense(count, degree) {
  let seed = 7;
  const random = () => (seed = (seed * 48271) % 2147483647) / 2147483647;
  const nodes = {};
  const edges = [{ from: "__start__", to: "n0" }];
  const layout = { __start__: [-160, 8], __end__: [304 * 40, 8] };
  for (let index = 0; index < count; index += 1) {
    nodes[`n${index}`] = assign(index);
    layout[`n${index}`] = [Math.floor(random() * 40) * 304, Math.floor((random() * count) / 20) * 160];
    if (index > 0) edges.push({ from: `n${Math.max(0, index - 1 - Math.floor(random() * 8))}`, to: `n${index}` });
    const seen = new Set();
    for (let more = 1; more < degree; more += 1) {
      const to = index + 2 + Math.floor(random() * 28);
      if (to < count && !seen.has(to)) edges.push({ from: `n${index}`, to: `n${to}` });
      seen.add(to);
    }
  }
  edges.push({ from: `n${count - 1}`, to: "__end__" });
  return graphOf(`Dense graph of ${count}`, nodes, edges, layout);
}
