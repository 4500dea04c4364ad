#!/bin/sh
# LangChain: a tool call that the token limit cut off is run with the piece that arrived, when the answer was streamed.
#
# A model begins to write the arguments of `remove`, the path "/home/ada/projects/old", and reaches its limit in the middle.
# Read in one piece the call is invalid: `tool_calls` is empty, `invalid_tool_calls` holds the text, no tool is run. With
# `streaming=True`, and nothing else changed, the text is completed to JSON and the call is valid: the agent removes
# "/home/ada/pr". The reason "length" is in the metadata of the message in both, which the tool node does not read.
# (langchain-openai 1.7.4, langchain-core 1.8.3, langgraph 1.2.24, against an HTTP server in the script)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 langgraph-checkpoint==4.3.2 \
  langgraph-prebuilt==1.1.3 langchain-core==1.8.3 langchain-openai==1.7.4

cat >"$folder/try.py" <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

WHOLE = '{"path": "/home/ada/projects/old"}'
CUT = WHOLE[:22]


class Model(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        head = {"id": "x", "created": 1, "model": "m"}
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "remove", "arguments": ""}}
        if not asked.get("stream"):
            call["function"]["arguments"] = CUT
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
            choice = {"index": 0, "finish_reason": "length", "message": message}
            text = json.dumps({**head, "object": "chat.completion", "choices": [choice]})
        else:
            deltas = [{"role": "assistant", "content": None, "tool_calls": [call]}]
            for at in range(0, len(CUT), 5):
                deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": CUT[at : at + 5]}}]})
            choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
            choices.append({"index": 0, "delta": {}, "finish_reason": "length"})
            parts = [json.dumps({**head, "object": "chat.completion.chunk", "choices": [choice]}) for choice in choices]
            text = "".join(f"data: {part}\n\n" for part in [*parts, "[DONE]"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if asked.get("stream") else "application/json")
        self.end_headers()
        self.wfile.write(text.encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()


@tool
def remove(path: str) -> str:
    """Removes a folder with all that is in it."""
    print("  the tool removes", path)
    return "removed"


for streaming in (False, True):
    model = ChatOpenAI(model="m", api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1", streaming=streaming)
    bound = model.bind_tools([remove])
    answer = bound.invoke("Remove the old project.")
    print("streaming" if streaming else "in one piece", answer.response_metadata["finish_reason"])
    print("  valid calls:", [call["args"] for call in answer.tool_calls])
    print("  invalid calls:", [call["args"] for call in answer.invalid_tool_calls])

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [bound.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode([remove]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.compile().invoke({"messages": ["Remove the old project."]})
PYTHON
cat >"$folder/expected" <<'TEXT'
in one piece length
  valid calls: []
  invalid calls: ['{"path": "/home/ada/pr']
streaming length
  valid calls: [{'path': '/home/ada/pr'}]
  invalid calls: []
  the tool removes /home/ada/pr
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
