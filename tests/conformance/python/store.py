"""Records what LangGraph's InMemoryStore answers, for crates/engine/tests/it/store.rs.

    python tests/conformance/python/store.py > crates/engine/tests/fixtures/store.json
"""

import json

from langgraph.store.base import GetOp, PutOp, SearchOp, get_text_at_path
from langgraph.store.memory import InMemoryStore

PERSON = {
    "name": "Ada", "age": 36, "active": True, "half": 0.5, "none": None,
    "info": {"tags": ["x", "y", "z"], "address": {"zip": "E1", "city": "London"}},
    "items": [{"v": 1}, {"v": 2}, "plain"],
}
PATHS = [
    "name", "age", "active", "info.address.city", "info.address", "info.tags[0]", "info.tags[-1]", "info.tags[*]",
    "info.tags", "info.address.*", "items[*].v", "items.*.v", "{name,age}", "$", "missing", "info.tags[9]", "name[0]",
    "half", "{name,info.address.city}",
]
VALUES = {
    "a": {"n": 1, "t": "x", "d": {"q": 1, "r": 2}},
    "b": {"n": 2.5, "t": "y", "l": [1, 2]},
    "c": {"n": 10, "t": None},
    "d": {"n": -3, "b": True},
}
FILTERS = [
    {}, {"n": 1}, {"n": 1.0}, {"t": "x"}, {"t": None}, {"n": {"$gt": 1}}, {"n": {"$gte": 1, "$lt": 10}},
    {"n": {"$lte": 2.5}}, {"n": {"$ne": 1}}, {"d": {"q": 1}}, {"d": {"q": {"$gt": 0}}}, {"d": {"$eq": {"q": 1}}},
    {"l": [1, 2]}, {"l": [1, {"$gt": 1}]}, {"n": {"$gt": 0}, "t": "y"}, {"missing": None}, {"b": True},
    {"t": {"$ne": "x"}}, {"d.q": 1},
]
NAMESPACES = [
    ["a"], ["a", "b"], ["a", "b", "c"], ["a", "b", "d", "e"], ["a", "x", "c"], ["ab", "c"], ["users", "1", "prefs"],
    ["users", "2", "prefs", "v1"],
]
LISTS = [
    {}, {"prefix": ["a"]}, {"prefix": ["a", "*", "c"]}, {"suffix": ["c"]}, {"suffix": ["*", "prefs"]},
    {"prefix": ["a"], "suffix": ["c"]}, {"max_depth": 1}, {"max_depth": 2},
    {"prefix": ["a"], "max_depth": 2, "offset": 1, "limit": 1}, {"prefix": ["*"], "max_depth": 1},
    {"suffix": ["v1"], "max_depth": 2},
]
TEXTS = {
    "1": {"text": "aaab"}, "2": {"text": "ab"}, "3": {"text": "b"}, "4": {"text": "cc"}, "5": {"other": "a"},
    "6": {"text": "abcd"},
}


def filled(namespace, values, **options):
    store = InMemoryStore(**options)
    for key, value in values.items():
        store.put(namespace, key, value)
    return store


def filters():
    store = filled(("f",), VALUES)
    return [[f, sorted(item.key for item in store.search(("f",), filter=f, limit=100))] for f in FILTERS]


def lists():
    store = InMemoryStore()
    for namespace in NAMESPACES:
        store.put(tuple(namespace), "k", {})
    labels = lambda v: tuple(v) if isinstance(v, list) else v
    ask = lambda q: store.list_namespaces(**{name: labels(v) for name, v in q.items()})
    return [[q, [list(namespace) for namespace in ask(q)]] for q in LISTS]


def batch():
    store = InMemoryStore()
    ops = [PutOp(("a",), "k", {"v": 1}), GetOp(("a",), "k"), PutOp(("a",), "k", {"v": 2}), SearchOp(("a",))]
    return {"answers": store.batch(ops), "after": store.get(("a",), "k").value}


def ranked():
    letters = lambda texts: [[float(text.count(letter)) for letter in "abcd"] for text in texts]
    store = filled(("v",), TEXTS, index={"dims": 4, "embed": letters, "fields": ["text"]})
    return [[i.key, None if i.score is None else round(i.score, 4)] for i in store.search(("v",), query="a")]


facts = {
    "paths": {"value": PERSON, "texts": {path: get_text_at_path(PERSON, path) for path in PATHS}},
    "filters": {"values": VALUES, "found": filters()},
    "namespaces": {"namespaces": NAMESPACES, "listed": lists()},
    "batch": batch(),
    "vectors": {"values": TEXTS, "query": "a", "ranked": ranked()},
}
print(json.dumps(facts, ensure_ascii=False, separators=(",", ":")).replace('},"', '},\n"'))
