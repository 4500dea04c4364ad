#!/bin/sh
# MCP's Python SDK: a text that reads as JSON does not reach a tool as that text, though its schema asks for a text.
#
# A tool with `content: str | None` declares "string or null" in its schema. A client sends the text `null`, the whole content
# of a file, and the tool is run with None: it deletes where it was asked to write. A text that is a JSON object or a list is
# refused, as "not a valid string", so that such a tool writes every file but those of JSON. With `str | dict` or `Any` the text
# arrives as an object, without a word. Only a parameter of the bare type `str` is left alone. The SDK's server in TypeScript
# hands the same texts over as they are. (mcp 2.3.0; @modelcontextprotocol/sdk 1.32.2, zod 4.6.7)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check mcp==2.3.0
npm install --prefix "$folder" --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2 zod@4.6.7

cat >"$folder/try.py" <<'PYTHON'
import asyncio
import logging
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer

logging.disable(logging.CRITICAL)
server = MCPServer("files")


@server.tool()
def plain(content: str) -> str:
    return f"{type(content).__name__} {content}"


@server.tool()
def optional(content: str | None = None) -> str:
    return f"{type(content).__name__} {content}"


@server.tool()
def either(content: str | dict[str, Any]) -> str:
    return f"{type(content).__name__} {content}"


async def main():
    async with Client(server) as client:
        schema = next(tool for tool in (await client.list_tools()).tools if tool.name == "optional").input_schema
        print("Python, optional takes", [kind["type"] for kind in schema["properties"]["content"]["anyOf"]])
        for name in ("plain", "optional", "either"):
            for content in ("null", '{"a": 1}'):
                result = await client.call_tool(name, {"content": content})
                print(f"Python, {name}, {content}:", "refused" if result.is_error else result.content[0].text)


asyncio.run(main())
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";

const server = new McpServer({ name: "files", version: "1" });
for (const [name, content] of [
  ["optional", z.string().nullable().default(null)],
  ["either", z.union([z.string(), z.record(z.string(), z.any())])],
]) {
  server.registerTool(name, { inputSchema: { content } }, async (given) => ({
    content: [{ type: "text", text: `${typeof given.content} ${given.content}` }],
  }));
}
const client = new Client({ name: "client", version: "1" });
const [one, other] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(one), client.connect(other)]);
for (const name of ["optional", "either"]) {
  for (const content of ["null", '{"a": 1}']) {
    const result = await client.callTool({ name, arguments: { content } });
    console.log(`TypeScript, ${name}, ${content}: ${result.content[0].text}`);
  }
}
await client.close();
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, optional takes ['string', 'null']
Python, plain, null: str null
Python, plain, {"a": 1}: str {"a": 1}
Python, optional, null: NoneType None
Python, optional, {"a": 1}: refused
Python, either, null: refused
Python, either, {"a": 1}: dict {'a': 1}
TypeScript, optional, null: string null
TypeScript, optional, {"a": 1}: string {"a": 1}
TypeScript, either, null: string null
TypeScript, either, {"a": 1}: string {"a": 1}
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
