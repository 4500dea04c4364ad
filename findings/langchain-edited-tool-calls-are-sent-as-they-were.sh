#!/bin/sh
# LangChain: a tool call that a person corrected is run as corrected, and told to some models as it was before.
#
# A model asks to pay 1000. A person sets the arguments in `tool_calls` of the message, which is what tool nodes run, to 10, and
# the conversation goes on. Which of the two the model is then sent as its own call depends on the API and the language: the
# corrected one in Python for Anthropic, and in both languages for OpenAI's chat completions; the old one in both for OpenAI's
# Responses, and in JavaScript for Anthropic, unless that answer was streamed. There the message holds the call a second time
# (in its content or its metadata), and that copy wins: the model reads that it paid 1000, beside the result for 10.
# (langchain-core 1.8.3, langchain-openai 1.7.4, langchain-anthropic 1.7.10; @langchain/core 1.4.0,
# @langchain/openai 1.5.8, @langchain/anthropic 1.5.11, against an HTTP server in the script)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3 langchain-openai==1.7.4 \
  langchain-anthropic==1.7.10
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/core@1.4.0 @langchain/openai@1.5.8 \
  @langchain/anthropic@1.5.11

cat >"$folder/try.py" <<'PYTHON'
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

ARGUMENTS = {"amount": 1000}
ANTHROPIC = {
    "id": "x",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [{"type": "tool_use", "id": "call_1", "name": "pay", "input": ARGUMENTS}],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
ANTHROPIC_STREAM = [
    {"type": "message_start", "message": {**ANTHROPIC, "content": [], "stop_reason": None}},
    {"type": "content_block_start", "index": 0, "content_block": {**ANTHROPIC["content"][0], "input": {}}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": json.dumps(ARGUMENTS)}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]
FUNCTION = {"name": "pay", "arguments": json.dumps(ARGUMENTS)}
CHAT = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": FUNCTION}],
            },
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "m",
    "status": "completed",
    "output": [{"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **FUNCTION}],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    },
}


def sent(body):
    """Gives the arguments of the call in the history that the model is sent."""
    if "input" in body:
        return [json.loads(item["arguments"]) for item in body["input"] if item.get("type") == "function_call"]
    answer = body["messages"][1]
    if isinstance(answer.get("content"), list):
        return [block["input"] for block in answer["content"] if block["type"] == "tool_use"]
    return [json.loads(call["function"]["arguments"]) for call in answer["tool_calls"]]


seen = []


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if len(body.get("messages") or body["input"]) > 1:
            seen.append(sent(body))
        if self.path.endswith("/messages") and body.get("stream"):
            text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in ANTHROPIC_STREAM)
        else:
            answers = {"messages": ANTHROPIC, "completions": CHAT, "responses": RESPONSE}
            text = json.dumps(answers[self.path.split("?")[0].rsplit("/", 1)[1]])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if body.get("stream") else "application/json")
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
openai = {"model": "m", "api_key": "none", "base_url": base + "/v1"}
for name, model in {
    "Anthropic": ChatAnthropic(model="claude-sonnet-4-5", api_key="none", base_url=base),
    "OpenAI's chat": ChatOpenAI(**openai),
    "OpenAI's Responses": ChatOpenAI(**openai, use_responses_api=True),
}.items():
    question = HumanMessage("Pay the bill.")
    answer = model.invoke([question])
    corrected = [{**answer.tool_calls[0], "args": {"amount": 10}}]
    answer = answer.model_copy(update={"tool_calls": corrected})
    print(f"Python, {name}: a tool node runs {answer.tool_calls[0]['args']}")
    model.invoke([question, answer, ToolMessage("paid", tool_call_id="call_1")])
    print("  the model is sent", seen.pop())
javascript = subprocess.run(["node", sys.argv[1], base], stdout=subprocess.PIPE, text=True, check=True)
for title, arguments in zip(javascript.stdout.splitlines(), seen, strict=True):
    print(title)
    print("  the model is sent", arguments)
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";

const base = process.argv[2];
const anthropic = { model: "claude-sonnet-4-5", apiKey: "none", anthropicApiUrl: base };
const openai = { model: "m", apiKey: "none", configuration: { baseURL: `${base}/v1` } };
for (const [name, model] of Object.entries({
  Anthropic: new ChatAnthropic(anthropic),
  "Anthropic, streamed": new ChatAnthropic({ ...anthropic, streaming: true }),
  "OpenAI's chat": new ChatOpenAI(openai),
  "OpenAI's Responses": new ChatOpenAI({ ...openai, useResponsesApi: true }),
})) {
  const question = new HumanMessage("Pay the bill.");
  const answer = await model.invoke([question]);
  answer.tool_calls = [{ ...answer.tool_calls[0], args: { amount: 10 } }];
  console.log(`JS, ${name}: a tool node runs ${JSON.stringify(answer.tool_calls[0].args)}`);
  await model.invoke([question, answer, new ToolMessage({ content: "paid", tool_call_id: "call_1" })]);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, Anthropic: a tool node runs {'amount': 10}
  the model is sent [{'amount': 10}]
Python, OpenAI's chat: a tool node runs {'amount': 10}
  the model is sent [{'amount': 10}]
Python, OpenAI's Responses: a tool node runs {'amount': 10}
  the model is sent [{'amount': 1000}]
JS, Anthropic: a tool node runs {"amount":10}
  the model is sent [{'amount': 1000}]
JS, Anthropic, streamed: a tool node runs {"amount":10}
  the model is sent [{'amount': 10}]
JS, OpenAI's chat: a tool node runs {"amount":10}
  the model is sent [{'amount': 10}]
JS, OpenAI's Responses: a tool node runs {"amount":10}
  the model is sent [{'amount': 1000}]
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/try.mjs" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
