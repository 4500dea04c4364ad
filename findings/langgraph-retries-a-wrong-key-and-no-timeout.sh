#!/bin/sh
# LangGraph: its default retry policy runs a node again after a refused key, and not after a timeout.
#
# `RetryPolicy(max_attempts=3)` decides by the class of the error. Builtin errors of the system are not tried again, except
# ConnectionError, and so are all that derive from OSError: TimeoutError (which asyncio's is since Python 3.11), every error of
# `requests` but an HTTP status (its ConnectionError is no ConnectionError), and all of urllib, a 503 included. Of statuses only
# those of 500 and more count, and only in the errors of `httpx` and `requests`: httpx' 429 ends the run. Classes that it does not
# know are tried again: a 401 of Anthropic's SDK, which no attempt can mend, runs its node three times. Which client a node uses
# thus decides whether the same failure of a server is met by another attempt. (langgraph 1.2.24; requests 2.34.2, httpx 0.28.1,
# anthropic 2.14.0)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph==1.2.24 requests==2.34.2 httpx==0.28.1 \
  anthropic==2.14.0

cat >"$folder/try.py" <<'PYTHON'
import urllib.error

import anthropic
import httpx
import requests
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy
from typing_extensions import TypedDict

request = httpx.Request("POST", "http://localhost/")


def status(code):
    return httpx.Response(code, request=request)


FAILURES = {
    "no connection, builtin": ConnectionError("refused"),
    "no connection, requests": requests.ConnectionError("refused"),
    "no connection, urllib": urllib.error.URLError("refused"),
    "no connection, httpx": httpx.ConnectError("refused"),
    "timeout, builtin": TimeoutError("late"),
    "timeout, requests": requests.Timeout("late"),
    "timeout, httpx": httpx.ReadTimeout("late"),
    "status 503, urllib": urllib.error.HTTPError("http://localhost/", 503, "busy", None, None),
    "status 503, httpx": httpx.HTTPStatusError("busy", request=request, response=status(503)),
    "status 429, httpx": httpx.HTTPStatusError("slower", request=request, response=status(429)),
    "status 401, httpx": httpx.HTTPStatusError("who", request=request, response=status(401)),
    "status 401, anthropic": anthropic.AuthenticationError("who", response=status(401), body=None),
}


class State(TypedDict):
    n: int


for name, failure in FAILURES.items():
    attempts = 0

    def node(state):
        global attempts
        attempts += 1
        raise failure

    policy = RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)
    graph = StateGraph(State).add_node(node, retry_policy=policy).add_edge(START, "node").compile()
    try:
        graph.invoke({"n": 1})
    except Exception as error:
        assert error is failure
    print(f"{name}: {attempts}")
PYTHON
cat >"$folder/expected" <<'TEXT'
no connection, builtin: 3
no connection, requests: 1
no connection, urllib: 1
no connection, httpx: 3
timeout, builtin: 1
timeout, requests: 1
timeout, httpx: 3
status 503, urllib: 1
status 503, httpx: 3
status 429, httpx: 1
status 401, httpx: 1
status 401, anthropic: 3
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
