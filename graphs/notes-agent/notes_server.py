"""A small MCP server: the notes of a folder, as tools and as resources.

It needs nothing but Python. What is written is kept until the server ends, so that the example stays as it is. A real
server of this kind is `npx -y @modelcontextprotocol/server-filesystem notes`; others are listed at modelcontextprotocol.io.
"""

import json
import sys
from pathlib import Path

NOTES = {file.stem: file.read_text(encoding="utf-8") for file in sorted(Path("notes").glob("*.md"))}

NAME = {"type": "string", "description": "The name of a note."}
TOOLS = [
    {
        "name": "list_notes",
        "description": "Lists the names of all notes.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "read_note",
        "description": "Reads a note.",
        "inputSchema": {"type": "object", "properties": {"name": NAME}, "required": ["name"]},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "write_note",
        "description": "Writes a note, in the place of the one that had the name.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": NAME, "text": {"type": "string", "description": "The whole note."}},
            "required": ["name", "text"],
        },
        "annotations": {"readOnlyHint": False, "destructiveHint": True},
    },
]


class Refused(Exception):
    """What cannot be done, in words for whoever asked."""


def note(name):
    if name not in NOTES:
        raise Refused(f"There is no note {name!r}. There are: {', '.join(NOTES)}.")
    return NOTES[name]


def call(name, arguments):
    if name == "list_notes":
        return json.dumps(list(NOTES))
    if name == "read_note":
        return note(arguments["name"])
    if name == "write_note":
        NOTES[arguments["name"]] = arguments["text"]
        return f"Written: {arguments['name']}, {len(arguments['text'].splitlines())} lines."
    raise Refused(f"There is no tool {name!r}.")


def text(words, failed=False):
    return {"content": [{"type": "text", "text": words}], "isError": failed}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            return text(call(params["name"], params.get("arguments") or {}))
        except Refused as refused:
            return text(str(refused), failed=True)
    if method == "resources/list":
        listed = [{"uri": f"note:///{name}", "name": name, "mimeType": "text/markdown"} for name in NOTES]
        return {"resources": listed}
    if method == "resources/read":
        uri = params["uri"]
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": note(uri.removeprefix("note:///"))}]}
    return None


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            result = answer(request["method"], request.get("params") or {})
            if result is None:
                reply["error"] = {"code": -32601, "message": f"{request['method']} is not known here"}
            else:
                reply["result"] = result
        except Refused as refused:
            reply["error"] = {"code": -32602, "message": str(refused)}
        print(json.dumps(reply), flush=True)


main()
