"""Node functions as LangGraph knows them: the state goes in, an update or a command comes out.

Nothing here knows Superstep. Where LangGraph is installed its own `interrupt` and `Command` are used, and the file works in a
program of yours as it does here; otherwise the module `superstep` has functions with the same names.
"""

from typing import TypedDict

try:
    from langgraph.types import Command, interrupt
except ImportError:
    from superstep import Command, interrupt

PRICES = {"desk": 480.0, "chair": 129.5, "lamp": 49.0}
# From so many pieces of one thing, so much is taken off.
STEPS = [(50, 0.20), (20, 0.10), (10, 0.05)]


class State(TypedDict):
    items: list
    lines: list
    total: float
    decision: str


def discount(quantity: int) -> float:
    return next((off for least, off in STEPS if quantity >= least), 0.0)


def price(state: State) -> dict:
    """Every item with its price, and the sum."""
    unknown = [item["name"] for item in state["items"] if item["name"] not in PRICES]
    if unknown:
        raise ValueError("we do not sell: %s" % ", ".join(unknown))
    lines = []
    for item in state["items"]:
        off = discount(item["quantity"])
        amount = PRICES[item["name"]] * item["quantity"] * (1 - off)
        lines.append({"name": item["name"], "quantity": item["quantity"], "off": off, "amount": round(amount, 2)})
        print("%(quantity)d × %(name)s: %(amount).2f" % lines[-1])
    return {"lines": lines, "total": round(sum(line["amount"] for line in lines), 2)}


def review(state: State) -> Command:
    """Somebody looks at large quotes, and says where they go."""
    if state["total"] <= 5000:
        return Command(update={"decision": "small enough"}, goto="write")
    answer = interrupt({"question": "Send a quote of %.2f EUR?" % state["total"], "schema": {"enum": ["yes", "no"]}})
    return Command(update={"decision": answer}, goto="write" if answer == "yes" else "decline")


async def write(state: State):
    """The letter, piece by piece: what is yielded is streamed, what stands last is the update."""
    words = ["Dear customer,", ""]
    for line in state["lines"]:
        off = " (%d %% off)" % round(line["off"] * 100) if line["off"] else ""
        words.append("  %d × %s: %.2f EUR%s" % (line["quantity"], line["name"], line["amount"], off))
        yield {"line": words[-1].strip()}
    words += ["", "Together: %.2f EUR." % state["total"]]
    yield Command(update={"letter": "\n".join(words)})
