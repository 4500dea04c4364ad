"""`./dev bench tests`: an evaluation of many rows here, and LangGraph's `batch` over the same rows with the same answers.

The refund desk of the examples, as it is and without its code nodes, is written for LangGraph below. Rows, answers of people and
of models are the same on both sides, and what comes of each row is compared. Here a row runs on a thread in memory, as tests do, and
the time is that of the whole command; LangGraph keeps its threads in its SQLite saver or in memory, and its time is that of `batch`
alone, without starting Python. `limit` is LangGraph's time, `ratio` ours of it. Every measurement is a process of its own, and the sides take turns; a figure is the fastest round.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DESK = os.path.join(HERE, "..", "..", "graphs", "refund-desk", "graph.json")
ROUNDS = 3
AT_ONCE = 4
LETTERS = [
    "The lamp arrived broken, the glass is cracked. I would like my money back.",
    "The kettle came late and is damaged, I want to return it.",
    "Which bulbs fit the desk lamp?",
    "My chair is scratched, please give me my money back.",
    "When is your shop in town open?",
]
DESKS = ("refund desk", "without code")


def rows_of(count):
    for n in range(count):
        yield {"request": LETTERS[n % 5], "price": 10 + n % 90, "days": n % 100}


def answer_of(n):
    return {"decision": "reject" if n % 3 == 0 else "approve"}


def make_folder(folder, count, has_code):
    """An evaluation of the desk; without code nodes what they work out is an expression."""
    with open(DESK) as file:
        graph = json.load(file)
    if not has_code:
        graph["nodes"]["propose"] = {
            "kind": "assign",
            "config": {
                "set": {
                    "amount": "(state.price * (1.0 if state.days <= 30 else 0.5 if state.days <= 90 else 0.0))|round(2)",
                    "reason": "state.days ~ ' days after delivery'",
                    "attempts": "1",
                }
            },
        }
        graph["nodes"]["pay"] = {
            "kind": "assign",
            "config": {"set": {"payment": "{'amount': state.amount, 'reference': 'R-1'}", "outcome": "'paid'"}},
        }
    os.makedirs(os.path.join(folder, "evaluations"))
    with open(os.path.join(folder, "graph.json"), "w") as file:
        json.dump(graph, file)
    with open(os.path.join(folder, "evaluations", "rows.jsonl"), "w") as file:
        for n, row in enumerate(rows_of(count)):
            anything = {"category": "*", "outcome": "*", "reply": "*"}
            file.write(json.dumps({"input": row, "answers": [answer_of(n)], "expect": anything}) + "\n")
    with open(os.path.join(folder, "evaluations", "desk.json"), "w") as file:
        json.dump({"rows": "rows.jsonl", "scores": {"ends": {"key": "outcome"}}, "concurrency": AT_ONCE}, file)


def desk(saver, has_code):
    from typing import Annotated, TypedDict
    import operator

    from langgraph.graph import END, START, StateGraph
    from langgraph.types import interrupt

    class State(TypedDict, total=False):
        request: str
        price: float
        days: int
        category: str
        amount: float
        reason: str
        attempts: Annotated[int, operator.add]
        draft: str
        review: dict
        payment: dict
        outcome: str
        reply: str

    def shown(amount):
        # JavaScript writes 24, an expression 24.0.
        return f"{amount:g}" if has_code else str(float(amount))

    words = {"refund", "broken", "damaged", "money", "return", "cracked", "wrong", "late", "scratched"}

    def classify(state):
        text = state["request"].lower()
        for sign in ".,!?":
            text = text.replace(sign, " ")
        return {"category": "refund" if words & set(text.split()) else "other"}

    def propose(state):
        share = 1 if state["days"] <= 30 else 0.5 if state["days"] <= 90 else 0
        amount = round(state["price"] * share, 2)
        reason = f"{state['days']} days after delivery" + (f": {share * 100:g} % of the price" if has_code else "")
        return {"amount": amount, "reason": reason, "attempts": 1}

    def draft(state):
        amount, days = shown(state["amount"]), state["days"]
        if state["amount"] == 0:
            text = (
                "Dear customer, we are sorry that you are not happy with your purchase. It was delivered "
                f"{days} days ago, which is past our 90 days, so we cannot offer money back. Kind regards, your refund desk."
            )
        elif state["amount"] < state["price"]:
            text = (
                f"Dear customer, we are sorry for the trouble. As it was delivered {days} days ago, we offer you {amount} EUR, "
                "half of what you paid. Kind regards, your refund desk."
            )
        else:
            text = (
                f"Dear customer, we are sorry for the trouble. You get the full {amount} EUR back. Please keep the goods. "
                "Kind regards, your refund desk."
            )
        return {"draft": text}

    def review(state):
        return {"review": interrupt({"question": f"Refund {state['amount']:g} EUR of {state['price']:g} EUR?\n\n{state['draft']}"})}

    def pay(state):
        number = 7
        for sign in state["request"] if has_code else "":
            number = (number * 31 + ord(sign)) % 1000000
        reference = f"R-{number:06d}" if has_code else "R-1"
        return {"payment": {"amount": state["amount"], "reference": reference}, "outcome": "paid"}

    def close(state):
        if state["outcome"] == "paid":
            paid = state["payment"]
            text = f"{state['draft']} Your refund of {shown(paid['amount'])} EUR is on its way (reference {paid['reference']})."
        elif state["outcome"] == "declined":
            text = "We looked at your request with care and cannot offer a refund this time."
        else:
            text = "Thank you for your message. Our support team will answer it."
        return {"reply": text}

    program = StateGraph(State)
    for node in (classify, propose, draft, review, pay, close):
        program.add_node(node.__name__, node)
    program.add_node("decline", lambda state: {"outcome": "declined"})
    program.add_node("forward", lambda state: {"outcome": "forwarded"})
    program.add_edge(START, "classify")
    program.add_conditional_edges(
        "classify", lambda state: "propose" if state["category"] == "refund" else "forward", ["propose", "forward"]
    )
    program.add_edge("propose", "draft")
    program.add_edge("draft", "review")
    program.add_conditional_edges(
        "review", lambda state: "pay" if state["review"]["decision"] == "approve" else "decline", ["pay", "decline"]
    )
    for node in ("pay", "decline", "forward"):
        program.add_edge(node, "close")
    program.add_edge("close", END)
    return program.compile(checkpointer=saver)


def theirs(count, has_code, saver):
    """Run by LangGraph's Python: `batch` over all rows, and again for those that ask."""
    from contextlib import nullcontext

    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.types import Command

    with tempfile.TemporaryDirectory() as folder:
        opened = SqliteSaver.from_conn_string(os.path.join(folder, "threads.db")) if saver == "sqlite" else nullcontext(InMemorySaver())
        with opened as kept:
            graph = desk(kept, has_code)
            settings = [{"configurable": {"thread_id": str(n)}, "max_concurrency": AT_ONCE} for n in range(count)]
            began = time.perf_counter()
            ended = graph.batch(list(rows_of(count)), settings)
            asked = [n for n, state in enumerate(ended) if "__interrupt__" in state]
            answers = [Command(resume=answer_of(n)) for n in asked]
            for n, state in zip(asked, graph.batch(answers, [settings[n] for n in asked])):
                ended[n] = state
            took = time.perf_counter() - began
    print(json.dumps({"took": took, "rows": [[state["category"], state["outcome"], state["reply"]] for state in ended]}))


def run(command, data=None):
    environment = os.environ | ({"SUPERSTEP_DATA": data} if data else {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ours(binary, folder, data):
    began = time.perf_counter()
    done = run([binary, "evaluate", folder, "--again", "--json"], data)
    took = time.perf_counter() - began
    rows = [[row["values"][key] for key in ("category", "outcome", "reply")] for row in done[0]["rows"]]
    return took, rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--theirs", nargs=3, metavar=("ROWS", "CODE", "SAVER"))
    parser.add_argument("--ours", help="the command line")
    parser.add_argument("--rows", type=int, default=500)
    options = parser.parse_args()
    if options.theirs:
        count, has_code, saver = options.theirs
        return theirs(int(count), has_code == "code", saver)
    base = tempfile.mkdtemp(prefix="superstep-evaluation-")
    try:
        for name in DESKS:
            has_code = name == "refund desk"
            folder, data = os.path.join(base, name), os.path.join(base, f"{name} data")
            make_folder(folder, options.rows, has_code)
            best = {}
            for _ in range(ROUNDS):
                took, rows = ours(options.ours, folder, data)
                best["ours"] = min(best.get("ours", took), took)
                for saver in ("sqlite", "memory"):
                    peer = [sys.executable, __file__, "--theirs", str(options.rows), "code" if has_code else "none", saver]
                    came = run(peer)
                    for n, (here, there) in enumerate(zip(rows, came["rows"], strict=True)):
                        if here != there:
                            sys.exit(f"{name}, row {n + 1}: {here} here, {there} in LangGraph.")
                    best[saver] = min(best.get(saver, came["took"]), came["took"])
            for saver in ("sqlite", "memory"):
                line = {
                    "bench": "tests",
                    "workload": f"evaluation, {name}",
                    "params": f"{options.rows} rows, LangGraph {saver}",
                    "value": best["ours"],
                    "unit": "s",
                    "limit": best[saver],
                    "ratio": best["ours"] / best[saver],
                }
                print(json.dumps(line), flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main()
