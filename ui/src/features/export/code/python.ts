/** Runs a graph from Python, over the HTTP server, with its standard library alone. */
import { t } from "../../../lib/texts";
import type { Json } from "../../../document/types";
import type { CodeFacts } from "./facts";
import { choicesNote, indented, pretty } from "./parts";

/** A value as Python writes it: as JSON, but for three words. */
export function pythonLiteral(value: Json): string {
  const strings = /"(?:[^"\\]|\\.)*"/g;
  const text = pretty(value);
  let at = 0;
  let code = "";
  const words = (part: string) =>
    part.replace(/\b(?:true|false|null)\b/g, (word) => ({ true: "True", false: "False" })[word] ?? "None");
  for (const { 0: string, index } of text.matchAll(strings)) {
    code += words(text.slice(at, index)) + string;
    at = index + string.length;
  }
  return code + words(text.slice(at));
}

export function pythonCode(facts: CodeFacts): string {
  const literal = (value: Json, by: number) => indented(pythonLiteral(value), by);
  const context = facts.context === null ? "" : `,\n    context=${literal(facts.context, 4)}`;
  const answers = facts.asking.flatMap((one) => {
    const note = choicesNote(one);
    return [
      `    if question["node"] == ${JSON.stringify(one.node)}:`,
      ...(note === null ? [] : [`        # ${note}`]),
      `        return ${literal(one.answer, 8)}`,
    ];
  });
  const asking = facts.mayAsk
    ? `

def answer(question):
    # ${t("code.decide")}
${answers.length > 0 ? `${answers.join("\n")}\n` : ""}    raise SystemExit(f"Nobody answers {question['node']}: {question['text']}")
`
    : "";
  const loop = facts.mayAsk
    ? `
while thread["status"] == "asking":
    questions = call("inbox.list", threadId=thread["threadId"])["questions"]
    answers = {question["interruptId"]: answer(question) for question in questions}
    run = call("run.start", threadId=thread["threadId"], action={"type": "resume", "answers": answers})
    thread = ended(run)`
    : "";
  return `# ${t("code.server")}
# SUPERSTEP_TOKEN=secret superstep serve
# SUPERSTEP_TOKEN=secret python3 run.py
import json
import os
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

SERVER = "http://127.0.0.1:7878"
TOKEN = os.environ["SUPERSTEP_TOKEN"]


def call(command, **request):
    headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    try:
        with urlopen(Request(f"{SERVER}/rpc/{command}", json.dumps(request).encode(), headers)) as response:
            return json.load(response)
    except HTTPError as refused:
        raise SystemExit(refused.read().decode())


def ended(run):
    # ${t("code.waits")}
    while (thread := call("thread.get", threadId=run["threadId"]))["status"] == "running":
        time.sleep(0.2)
    return thread
${asking}

graph = call("graph.open", path=${JSON.stringify(facts.path)})
run = call(
    "run.start",
    graphId=graph["graphId"],
    action={"type": "input", "input": ${literal(facts.input, 4)}}${context},
)
thread = ended(run)${loop}
if thread["status"] != "done":
    raise SystemExit(thread.get("run", {}).get("problem", thread["status"]))
state = call("thread.value", threadId=thread["threadId"], pointer="")["value"]
print(json.dumps(state, indent=2, ensure_ascii=False))
`;
}
