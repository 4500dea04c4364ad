"""A program whose checkpoints are encrypted with AES, as `EncryptedSerializer` does it.
Usage: LANGGRAPH_AES_KEY=… make_encrypted.py OUT.sqlite|postgres://… > expected.json   (needs pycryptodome; what the library itself
reads from the database). The tests know the key: "a key of thirty-two bytes, 12345"."""
import json, operator, sys
from typing import Annotated, Any, TypedDict
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import StateGraph, START
from langgraph.graph.message import add_messages
from langgraph.types import interrupt
from plain import plain, conf

class S(TypedDict, total=False):
    log: Annotated[list, operator.add]
    messages: Annotated[list, add_messages]
    secret: Any

def entry(s):
    return {"config": conf(s.config), "parent": conf(s.parent_config) if s.parent_config else None, "created_at": s.created_at,
            "step": s.metadata.get("step"), "source": s.metadata.get("source"), "next": list(s.next), "values": plain(s.values),
            "tasks": [{"id": t.id, "name": t.name, "error": None if t.error is None else str(t.error), "interrupts": [plain(i.value) for i in t.interrupts],
                       "state": conf(t.state) if isinstance(t.state, dict) else None} for t in s.tasks]}

def main(place):
    g = StateGraph(S)
    g.add_node("keep", lambda s: {"log": ["keep"], "secret": {"card": "4000 0012", "limit": 5}, "messages": [HumanMessage("Keep it", id="h")]})
    g.add_node("ask", lambda s: {"log": [interrupt({"may I?": s["secret"]})]})
    g.add_edge(START, "keep"); g.add_edge("keep", "ask")
    serde = EncryptedSerializer.from_pycryptodome_aes()
    if place.startswith("postgres"):
        import psycopg
        from langgraph.checkpoint.postgres import PostgresSaver
        conn = psycopg.connect(place, autocommit=True, prepare_threshold=0, row_factory=psycopg.rows.dict_row)
        saver = PostgresSaver(conn, serde=serde)
    else:
        import sqlite3
        from langgraph.checkpoint.sqlite import SqliteSaver
        conn = sqlite3.connect(place, check_same_thread=False)
        saver = SqliteSaver(conn, serde=serde)
    saver.setup()
    app, c = g.compile(checkpointer=saver), {"configurable": {"thread_id": "sealed"}, "metadata": {"customer": "c-17"}}
    app.invoke({"log": ["in"]}, c)
    out = {"sealed": {"history": [entry(s) for s in app.get_state_history(c)], "nested": {}}}
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)
    conn.close()

main(sys.argv[1])
