#!/bin/sh
# LangChain for Gemini: a tool's limits, its only allowed value and "anything" are not sent, without a warning.
#
# One tool, bound to two models. Anthropic is sent what Pydantic says: an amount from 1 to 50, a code by a pattern, one to three
# items, the currency "EUR" and no other, a value of any kind. Gemini is sent an integer, a text, a list, a text, and a text: it
# may answer with -3, no items and "USD", and must put a list or a number for the value into a text. The class for schemas
# in Google's own library, which LangChain fills, has fields for the limits and for the one value (`minimum`, `pattern`,
# `min_items`, `enum`), and a `Literal` of two values is sent.
# (langchain-google-genai 4.4.3, google-genai 3.6.1, langchain-anthropic 1.7.10, against an HTTP server in the script)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3 \
  langchain-google-genai==4.4.3 google-genai==3.6.1 langchain-anthropic==1.7.10

cat >"$folder/try.py" <<'PYTHON'
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from google.genai import types
from langchain_anthropic import ChatAnthropic
from langchain_google_genai import ChatGoogleGenerativeAI
from pydantic import BaseModel, Field

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


class Refund(BaseModel):
    """Refunds an order."""

    amount: int = Field(ge=1, le=50)
    code: str = Field(pattern="^[A-Z]{3}$")
    items: list[str] = Field(min_length=1, max_length=3)
    currency: Literal["EUR"]
    method: Literal["card", "cash"]
    value: Any


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
ChatAnthropic(model="claude-sonnet-4-5", api_key="none", base_url=base).bind_tools([Refund]).invoke("Refund order 7.")
anthropic = asked.pop()["tools"][0]["input_schema"]["properties"]
ChatGoogleGenerativeAI(model="gemini-2.5-flash", api_key="none", base_url=base).bind_tools([Refund]).invoke("Refund order 7.")
gemini = asked.pop()["tools"][0]["functionDeclarations"][0]["parameters"]["properties"]
for name in Refund.model_fields:
    print(f"{name}: Anthropic is sent {json.dumps(anthropic[name], sort_keys=True)}, Gemini {json.dumps(gemini[name], sort_keys=True)}")
fields = ("minimum", "maximum", "pattern", "min_items", "max_items", "enum")
print("Google's class has fields for", [name for name in fields if name in types.Schema.model_fields])
PYTHON
cat >"$folder/expected" <<'TEXT'
amount: Anthropic is sent {"maximum": 50, "minimum": 1, "type": "integer"}, Gemini {"type": "INTEGER"}
code: Anthropic is sent {"pattern": "^[A-Z]{3}$", "type": "string"}, Gemini {"type": "STRING"}
items: Anthropic is sent {"items": {"type": "string"}, "maxItems": 3, "minItems": 1, "type": "array"}, Gemini {"items": {"type": "STRING"}, "type": "ARRAY"}
currency: Anthropic is sent {"const": "EUR", "type": "string"}, Gemini {"type": "STRING"}
method: Anthropic is sent {"enum": ["card", "cash"], "type": "string"}, Gemini {"enum": ["card", "cash"], "type": "STRING"}
value: Anthropic is sent {}, Gemini {"type": "STRING"}
Google's class has fields for ['minimum', 'maximum', 'pattern', 'min_items', 'max_items', 'enum']
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
