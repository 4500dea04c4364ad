#!/bin/sh
# MCP's Python SDK: a tool has run, and its result is refused, because it is not what the schema made of its own type says.
#
# The schema of a tool's result is made of the type that its function returns, and the result is written by other rules: a name
# that is only an alias for reading stands in the schema and not in the result, one that is only an alias for writing the other
# way round, and NaN, a float, is written as null. The server sends such a result, marked as no error, and the
# SDK's own client raises RuntimeError in its place. What the tool did is done by then, and a program that treats the error as
# a failed call makes it again. (mcp 2.3.0, pydantic 2.14.4)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check mcp==2.3.0 pydantic==2.14.4

cat >"$folder/try.py" <<'PYTHON'
import asyncio
import logging

from mcp import Client
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, ConfigDict, Field

logging.disable(logging.CRITICAL)
server = MCPServer("orders")
ran = []


class Read(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    name: str = Field(validation_alias="fullName")


class Written(BaseModel):
    name: str = Field(serialization_alias="fullName")


def tool(function):
    return server.tool()(function)


@tool
def read() -> Read:
    ran.append("read")
    return Read(name="Ann")


@tool
def written() -> Written:
    ran.append("written")
    return Written(name="Ann")


@tool
def share() -> float:
    ran.append("share")
    return float("nan")


async def main():
    async with Client(server) as client:
        for name in ("read", "written", "share"):
            try:
                result = await client.call_tool(name, {})
                print(f"{name}: {result.structured_content}")
            except RuntimeError as error:
                print(f"{name}:", str(error).splitlines()[0])
        print("tools that ran:", *ran)


asyncio.run(main())
PYTHON
cat >"$folder/expected" <<'TEXT'
read: Invalid structured content returned by tool read: 'fullName' is a required property
written: Invalid structured content returned by tool written: 'name' is a required property
share: Invalid structured content returned by tool share: None is not of type 'number'
tools that ran: read written share
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
