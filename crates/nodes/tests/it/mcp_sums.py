"""A server written with the Python SDK, as of its first or its second line. python mcp_sums.py [PORT [stateless]]"""
import asyncio
import sys

from pydantic import BaseModel

try:
    from mcp.server.mcpserver import Context, MCPServer as Server
    NEW = True
except ImportError:
    from mcp.server.fastmcp import Context, FastMCP as Server
    NEW = False


class Sum(BaseModel):
    sum: int


class Count(BaseModel):
    count: int


http = {"port": int(sys.argv[1]), "stateless_http": len(sys.argv) > 2} if len(sys.argv) > 1 else {}
server = Server("sums", **({} if NEW else http))


@server.tool()
def add(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


@server.tool()
async def work(steps: int, ctx: Context) -> str:
    for step in range(steps):
        await asyncio.sleep(0.3)
        await ctx.report_progress(step + 1, steps)
    return "done"


@server.tool()
async def ask(ctx: Context) -> str:
    try:
        return (await ctx.elicit("How many?", Count)).action
    except Exception as error:  # it knows that this client has no such capability
        return f"not asked: {error}"


@server.tool()
async def hang(file: str) -> str:
    try:
        await asyncio.sleep(600)
    finally:
        open(file, "w").close()


@server.tool()
def fail() -> str:
    raise ValueError("not today")


@server.resource("sums://all")
def everything() -> str:
    return "1 + 1 = 2"


if http:
    server.run("streamable-http", **(http if NEW else {}))
else:
    server.run()
