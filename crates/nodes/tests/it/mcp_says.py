"""An MCP server that says what it is told to.

python3 mcp_says.py LISTS [UNKNOWN]: LISTS is a file with the results of tools/list by cursor; UNKNOWN is what it does
about requests that it does not know: refuse (the rule), empty, dies, silent, nonsense, modern (speaks 2026-07-28
only), slow (the same, and needs a while to come up).
"""
import json
import sys
import time

lists = json.load(open(sys.argv[1]))
unknown = sys.argv[2] if len(sys.argv) > 2 else "refuse"
started = False
seen = []


def put(line):
    sys.stdout.buffer.write(line.encode() + b"\n")
    sys.stdout.buffer.flush()


def send(message):
    put(json.dumps({"jsonrpc": "2.0", **message}))


def text(words):
    return {"content": [{"type": "text", "text": words}], "resultType": "complete"}


def called(key, params):
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "say":  # the lines as they are; ID stands for the id of the call
        for line in arguments["lines"]:
            put(line.replace("ID", json.dumps(key)))
        return None
    if name == "long":  # an answer of so many bytes, its id before or behind
        size, begin = arguments["bytes"], '{"jsonrpc":"2.0",'
        result = '"result":{"content":[{"type":"text","text":"' + "x" * size + '"}]}'
        put(begin + (f'{result},"id":{key}' if arguments.get("behind") else f'"id":{key},{result}') + "}")
        return None
    if name == "last":  # an answer without an end of its line, and then no server
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": key, "result": text("the last words")}))
        sys.stdout.flush()
        sys.exit(0)
    if name == "asks":  # asks for something first, in the way of 2026-07-28
        method = arguments.get("method", "elicitation/create")
        if arguments.get("always") or "inputResponses" not in params:
            request = {"method": method, "params": {"message": "How many?", "requestedSchema": {"type": "object"}}}
            return {"resultType": "input_required", "requestState": "s-1", "inputRequests": {"q": request}}
        return text(json.dumps([params["inputResponses"], params["requestState"]]))
    if name == "works":  # reports progress as nobody expects it
        token = params["_meta"]["progressToken"]
        for count in range(arguments["reports"]):
            time.sleep(0.3)
            send({"method": "notifications/progress", "params": {"progressToken": token, "progress": str(count), "total": None}})
    if name == "drips":  # an answer that comes piece by piece
        answer = json.dumps({"jsonrpc": "2.0", "id": key, "result": text("all of it")})
        size = -(-len(answer) // arguments["pieces"])
        for start in range(0, len(answer), size):
            time.sleep(0.3)
            sys.stdout.write(answer[start : start + size])
            sys.stdout.flush()
        put("")
        return None
    return text(json.dumps(seen))


for line in sys.stdin:
    request = json.loads(line)
    method, key, params = request.get("method"), request.get("id"), request.get("params") or {}
    seen.append(method)
    if key is None:
        continue
    if method == "initialize" and unknown not in ("modern", "slow"):
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "says"}}
    elif method == "server/discover" and unknown in ("modern", "slow"):
        if unknown == "slow" and not started:
            time.sleep(11)
        started = True
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28", 7], "capabilities": {"tools": {}, "odd": 3}}
    elif method == "tools/list":
        result = lists[params.get("cursor") or ""]
    elif method == "tools/call":
        result = called(key, params)
        if result is None:
            continue
    elif unknown == "dies":
        sys.exit(3)
    elif unknown == "empty":
        result = {}
    elif unknown == "silent":
        continue
    elif unknown == "nonsense":
        put(f'{{"jsonrpc": "2.0", "id": {key}, "result": ')
        continue
    else:
        send({"id": key, "error": {"code": -32601, "message": "no such method"}})
        continue
    send({"id": key, "result": result})
