#!/bin/sh
# Anthropic's SDKs: of an argument that the limit of tokens cut in the middle of a number, Python's gives the part as the number.
#
# A model calls a tool `pay` with an amount, and its answer ends at max_tokens behind `{"amount": 12`; it was to be 1250. Both SDKs
# read arguments while they arrive, as JSON without its end. In the final message of Python's stream the input is a whole object
# with the amount 12; JavaScript's leaves the number out, which is how both treat a text, a word such as `tr` and a number that
# ends with a point. Only stop_reason says that anything is missing. (anthropic 2.14.0; @anthropic-ai/sdk 1.14.0)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check anthropic==2.14.0
npm install --prefix "$folder" --silent --no-audit --no-fund @anthropic-ai/sdk@1.14.0

# A server that answers every request with a call whose arguments end where the model's name says, as the API streams it.
cat >"$folder/server.py" <<'PYTHON'
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

usage = {"input_tokens": 1, "output_tokens": 1}
message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None, "usage": usage}
call = {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {}}


class Server(BaseHTTPRequestHandler):
    def do_POST(self):
        cut = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"][0]["content"]
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": call},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": cut}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": usage},
            {"type": "message_stop"},
        ]
        body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
for program in (["python", "try.py"], ["node", "try.mjs"]):
    command = [sys.executable if program[0] == "python" else "node", program[1], f"http://127.0.0.1:{server.server_port}"]
    subprocess.run(command, check=True, timeout=100)
PYTHON
cat >"$folder/cuts.json" <<'TEXT'
["{\"amount\": 12", "{\"ids\": [7, 12", "{\"amount\": 12.", "{\"to\": \"An", "{\"all\": tr"]
TEXT
cat >"$folder/try.py" <<'PYTHON'
import json
import sys

import anthropic

client = anthropic.Anthropic(base_url=sys.argv[1], api_key="none")
for cut in json.load(open("cuts.json")):
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": cut}]) as stream:
        message = stream.get_final_message()
    print(f"Python, {cut} gives {json.dumps(message.content[0].input)} and {message.stop_reason}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: process.argv[2], apiKey: "none" });
for (const cut of JSON.parse(readFileSync("cuts.json", "utf8"))) {
  const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: cut }] });
  const message = await stream.finalMessage();
  console.log(`JavaScript, ${cut} gives ${JSON.stringify(message.content[0].input)} and ${message.stop_reason}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, {"amount": 12 gives {"amount": 12} and max_tokens
Python, {"ids": [7, 12 gives {"ids": [7, 12]} and max_tokens
Python, {"amount": 12. gives {} and max_tokens
Python, {"to": "An gives {} and max_tokens
Python, {"all": tr gives {} and max_tokens
JavaScript, {"amount": 12 gives {} and max_tokens
JavaScript, {"ids": [7, 12 gives {"ids":[7]} and max_tokens
JavaScript, {"amount": 12. gives {} and max_tokens
JavaScript, {"to": "An gives {} and max_tokens
JavaScript, {"all": tr gives {} and max_tokens
TEXT
(cd "$folder" && venv/bin/python server.py >seen)
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
