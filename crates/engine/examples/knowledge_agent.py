"""The program of knowledge_agent.rs with LangGraph: python3 crates/engine/examples/knowledge_agent.py"""

import re
from pathlib import Path
from typing import Literal, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

HANDBOOK = Path(__file__).parents[3] / "graphs/knowledge-agent/handbook"


# How many of the words it has, title, text.
Section = tuple[int, str, str]


class Agent(TypedDict, total=False):
    question: str
    query: str
    attempts: int
    sections: list[Section]
    answer: str


def model(prompt: str) -> str:
    """Stands for a model: what it says depends on the prompt alone."""
    if prompt == "classify: Hello!":
        return "smalltalk"
    if prompt == "rewrite: It went flat again, why?":
        return "puncture tube tyre pressure"
    if prompt.startswith("rewrite"):
        return "repair service"
    return "handbook"


def classify(agent: Agent) -> Literal["chat", "rewrite"]:
    if model(f"classify: {agent['question']}") == "smalltalk":
        return "chat"
    return "rewrite"


def chat(agent: Agent) -> Agent:
    return {"answer": "Hello!"}


def rewrite(agent: Agent) -> Agent:
    attempts = agent.get("attempts", 0)
    if attempts > 0:
        query = model(f"rewrite: {agent['question']}")
    else:
        query = agent.get("query") or agent["question"]
    return {"query": query, "attempts": attempts + 1}


def retrieve(agent: Agent) -> Agent:
    words = [word for word in re.split(r"[^a-z]+", agent["query"].lower()) if len(word) > 3]
    found = []
    for file in HANDBOOK.iterdir():
        for part in file.read_text().split("\n## ")[1:]:
            title, _, text = part.partition("\n\n")
            matches = sum(word in part.lower() for word in words)
            found.append((matches, title, text.strip()))
    found.sort(key=lambda section: (-section[0], section[1]))
    return {"sections": found[:3]}


def grade(agent: Agent) -> Literal["generate", "clarify", "rewrite"]:
    if agent["sections"] and agent["sections"][0][0] >= 2:
        return "generate"
    if agent["attempts"] >= 2:
        return "clarify"
    return "rewrite"


def clarify(agent: Agent) -> Command[Literal["rewrite"]]:
    hint = interrupt(f"I found nothing about: {agent['question']}")
    return Command(goto="rewrite", update={"query": hint, "attempts": 0})


def generate(agent: Agent) -> Agent:
    _, title, text = agent["sections"][0]
    return {"answer": f"{text.splitlines()[0]} [{title}]"}


builder = StateGraph(Agent)
builder.add_node("chat", chat)
builder.add_node("rewrite", rewrite)
builder.add_node("retrieve", retrieve)
builder.add_node("clarify", clarify)
builder.add_node("generate", generate)
builder.add_conditional_edges(START, classify)
builder.add_edge("rewrite", "retrieve")
builder.add_conditional_edges("retrieve", grade)
graph = builder.compile(checkpointer=InMemorySaver())

for question, expected in [
    ("Hello!", "Hello!"),
    ("Why do disc brakes squeal?", "[Squealing disc brakes]"),
    ("It went flat again, why?", "[Puncture]"),
    ("Do you sell kayaks?", "[Trailers]"),
]:
    config = {"configurable": {"thread_id": question}}
    ended = graph.invoke({"question": question}, config)
    if "__interrupt__" in ended:
        print(ended["__interrupt__"][0].value)
        ended = graph.invoke(Command(resume="trailer coupling"), config)
    print(f"{question}\n  {ended['answer']}")
    assert expected in ended["answer"], ended["answer"]
