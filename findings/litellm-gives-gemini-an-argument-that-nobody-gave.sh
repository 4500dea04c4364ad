#!/bin/sh
# LiteLLM: a call without arguments in the history becomes a call with the argument `type: "object"` for Gemini.
#
# A conversation holds a call of `list_orders`, which takes nothing, and its result. Some servers of OpenAI's form write the
# arguments of such a call as "{}", others as the empty text. For Anthropic LiteLLM makes the same of both, an empty `input`.
# For Gemini the empty text turns into `{"type": "object"}`, a piece of a schema: the model is shown a call that it never made,
# with an argument that the tool does not have. The comment in LiteLLM's own code says "pass empty dict".
# (litellm 1.110.2, the requests as an HTTP server in the script gets them)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check litellm==1.110.2

cat >"$folder/try.py" <<'PYTHON'
import json
import logging
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import litellm

asked = []
answers = {
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
    },
    "anthropic": {
        "id": "x",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        asked.append(body)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answers["gemini" if "contents" in body else "anthropic"]).encode())


logging.disable(logging.CRITICAL)
server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
for arguments in ("{}", ""):
    call = {"id": "call_1", "type": "function", "function": {"name": "list_orders", "arguments": arguments}}
    messages = [
        {"role": "user", "content": "Which orders are there?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "none"},
    ]
    for model in ("anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash"):
        base = f"http://127.0.0.1:{server.server_port}"
        litellm.completion(model=model, messages=messages, api_key="none", api_base=base, max_tokens=10)
        body = asked.pop()
        if "contents" in body:
            sent = next(part["function_call"]["args"] for part in body["contents"][1]["parts"] if "function_call" in part)
        else:
            sent = next(block["input"] for block in body["messages"][1]["content"] if block["type"] == "tool_use")
        print(f"arguments {arguments!r} for {model.split('/')[0]}: {sent}")
PYTHON
cat >"$folder/expected" <<'TEXT'
arguments '{}' for anthropic: {}
arguments '{}' for gemini: {}
arguments '' for anthropic: {}
arguments '' for gemini: {'type': 'object'}
TEXT
LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
