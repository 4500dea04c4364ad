#!/bin/sh
# LangChain.js for Anthropic: a tool's failure is sent to the model as an ordinary result.
#
# A ToolMessage has a `status`, "error" for a tool that failed; tool nodes set it. Anthropic's form of a result has `is_error`
# for it, which says that the text is a failure and no data. LangChain in Python sends it. In JavaScript the status is left out,
# with a text as with blocks, so that the model reads "0" or "No such order" as what the tool found, and the same graph goes on
# in another way. (@langchain/anthropic 1.5.11, @langchain/core 1.4.0; langchain-anthropic 1.7.10, langchain-core 1.8.3, against
# an HTTP server in the script)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3 \
  langchain-anthropic==1.7.10
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/core@1.4.0 @langchain/anthropic@1.5.11

cat >"$folder/try.py" <<'PYTHON'
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

ANSWER = {
    "id": "x",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "text", "text": "ok"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


seen = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        result = body["messages"][2]["content"][0]
        seen.append(f"  the model is sent a {result['type']} with is_error = {result.get('is_error', 'missing')}")
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(ANSWER).encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
model = ChatAnthropic(model="claude-sonnet-4-5", api_key="none", base_url=base)
call = AIMessage("", tool_calls=[{"id": "call_1", "name": "count_orders", "args": {}}])
for content in ("0", [{"type": "text", "text": "0"}]):
    print(f"Python, {'a text' if isinstance(content, str) else 'blocks'}:")
    model.invoke([HumanMessage("How many?"), call, ToolMessage(content, tool_call_id="call_1", status="error")])
    print(seen.pop())
javascript = subprocess.run(["node", sys.argv[1], base], stdout=subprocess.PIPE, text=True, check=True)
for title, line in zip(javascript.stdout.splitlines(), seen, strict=True):
    print(title)
    print(line)
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";

const model = new ChatAnthropic({ model: "claude-sonnet-4-5", apiKey: "none", anthropicApiUrl: process.argv[2] });
const call = new AIMessage({ content: "", tool_calls: [{ id: "call_1", name: "count_orders", args: {} }] });
for (const content of ["0", [{ type: "text", text: "0" }]]) {
  console.log(`JS, ${typeof content === "string" ? "a text" : "blocks"}:`);
  const result = new ToolMessage({ content, tool_call_id: "call_1", status: "error" });
  await model.invoke([new HumanMessage("How many?"), call, result]);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, a text:
  the model is sent a tool_result with is_error = True
Python, blocks:
  the model is sent a tool_result with is_error = True
JS, a text:
  the model is sent a tool_result with is_error = missing
JS, blocks:
  the model is sent a tool_result with is_error = missing
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/try.mjs" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
