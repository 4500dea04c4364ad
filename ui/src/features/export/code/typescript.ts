/** Runs a graph from TypeScript, over the HTTP server, with nothing but Node. */
import { t } from "../../../lib/texts";
import type { Json } from "../../../document/types";
import type { CodeFacts } from "./facts";
import { choicesNote, indented, pretty } from "./parts";

export function typescriptCode(facts: CodeFacts): string {
  const literal = (value: Json, by: number) => indented(pretty(value), by);
  const context = facts.context === null ? "" : `\n    context: ${literal(facts.context, 4)},`;
  const answers = facts.asking.flatMap((one) => {
    const note = choicesNote(one);
    return [
      ...(note === null ? [] : [`  // ${note}`]),
      `  if (question.node === ${JSON.stringify(one.node)}) return ${literal(one.answer, 2)};`,
    ];
  });
  const asking = facts.mayAsk
    ? `
function answer(question: Question): unknown {
  // ${t("code.decide")}
${answers.length > 0 ? `${answers.join("\n")}\n` : ""}  throw new Error(\`Nobody answers \${question.node}: \${question.text}\`);
}
`
    : "";
  const types = facts.mayAsk
    ? `
interface Question {
  interruptId: string;
  node: string;
  text: string;
}
`
    : "";
  const loop = facts.mayAsk
    ? `
  while (thread.status === "asking") {
    const { questions } = await call<{ questions: Question[] }>("inbox.list", { threadId: run.threadId });
    const answers = Object.fromEntries(questions.map((question) => [question.interruptId, answer(question)]));
    await call("run.start", { threadId: run.threadId, action: { type: "resume", answers } });
    thread = await ended(run.threadId);
  }`
    : "";
  return `// ${t("code.server")}
// SUPERSTEP_TOKEN=secret superstep serve
// SUPERSTEP_TOKEN=secret npx tsx run.ts
const server = "http://127.0.0.1:7878";

interface Thread {
  threadId: string;
  status: string;
  run?: { problem?: { message: string } };
}
${types}
async function call<Result>(command: string, request: object): Promise<Result> {
  const response = await fetch(\`\${server}/rpc/\${command}\`, {
    method: "POST",
    headers: {
      authorization: \`Bearer \${process.env.SUPERSTEP_TOKEN}\`,
      "content-type": "application/json",
    },
    body: JSON.stringify(request),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Result;
}

async function ended(threadId: string): Promise<Thread> {
  // ${t("code.waits")}
  for (;;) {
    const thread = await call<Thread>("thread.get", { threadId });
    if (thread.status !== "running") return thread;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
${asking}
async function main() {
  const graph = await call<{ graphId: string }>("graph.open", { path: ${JSON.stringify(facts.path)} });
  const run = await call<Thread>("run.start", {
    graphId: graph.graphId,
    action: { type: "input", input: ${literal(facts.input, 4)} },${context}
  });
  ${facts.mayAsk ? "let" : "const"} thread = await ended(run.threadId);${loop}
  if (thread.status !== "done") throw new Error(thread.run?.problem?.message ?? thread.status);
  const state = await call<{ value: unknown }>("thread.value", { threadId: run.threadId, pointer: "" });
  console.log(JSON.stringify(state.value, null, 2));
}

main();
`;
}
