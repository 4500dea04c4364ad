"""An MCP server that misbehaves when it is asked to; it speaks JSON lines, as the protocol says, and knows nothing else."""
import json
import os
import sys
import time

TOOLS = ["add_tool", "forget", "giant", "endless", "crash", "slow", "read.pid", "noise", "ask", "late"]


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(name, arguments):
    if name == "add_tool":
        TOOLS.append("added")
        send({"method": "notifications/tools/list_changed"})
    elif name == "forget":
        TOOLS.remove("slow")
    elif name == "giant":
        return "x" * 1_000_000
    elif name == "endless":
        while True:
            sys.stdout.write("x" * 1_000_000)
    elif name == "crash":
        print("the disk is on fire", file=sys.stderr, flush=True)
        os._exit(7)
    elif name == "slow":
        time.sleep(60)
    elif name == "late":
        open(arguments["called"], "w").close()
        time.sleep(arguments["seconds"])
    elif name == "ask":
        answers = []
        for key, method in [("q", "elicitation/create"), ("s", "sampling/createMessage")]:
            params = {"message": "How many?", "requestedSchema": {"type": "object", "properties": {}}}
            if key == "s":
                params = {"messages": [{"role": "user", "content": {"type": "text", "text": "x"}}], "maxTokens": 5}
            send({"id": key, "method": method, "params": params})
            while True:
                answer = json.loads(sys.stdin.readline())
                if answer.get("id") == key:
                    break
            answers.append(answer.get("result", {}).get("action") or "refused")
        return " ".join(answers)
    elif name == "noise":
        print("this line is no JSON", flush=True)
    return str(os.getpid())


for line in sys.stdin:
    request = json.loads(line)
    method, key = request.get("method"), request.get("id")
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        capabilities = {"tools": {"listChanged": True}}
        result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "odd", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif method == "tools/call" and request["params"]["name"] not in TOOLS:
        send({"id": key, "error": {"code": -32602, "message": "no such tool any more"}})
        continue
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": call(request["params"]["name"], request["params"].get("arguments") or {})}]}
    elif key is not None:
        send({"id": key, "error": {"code": -32601, "message": "no such method"}})
        continue
    else:
        continue
    send({"id": key, "result": result})
    if method == "tools/call" and request["params"]["name"] == "late":
        open(request["params"]["arguments"]["answered"], "w").close()
