"""Hostile documents: what each family makes is data, written to a folder by `write`.

A case is (name, files). A file is text, bytes, JSON, or one of the special kinds below; its name is a path in the folder
of the case. `graph.json` is what is opened. Names say what is tried: FAMILY-WHAT.
"""

import json
import os
import random

MB = 1024 * 1024


class Link(str):
    """A symbolic link to this path."""


class Fifo:
    """A pipe that nobody writes to."""



def graph(nodes=None, edges=None, state=None, **more):
    nodes = {"a": assign("1")} if nodes is None else nodes
    if edges is None:
        names = list(nodes) if isinstance(nodes, dict) else ["a"]
        edges = [{"from": x, "to": y} for x, y in zip(["__start__", *names], [*names, "__end__"])]
    state = {"x": {}} if state is None else state
    return {"format": "superstep/1", "name": "g", "state": state, "nodes": nodes, "edges": edges, **more}


def assign(value, key="x"):
    return {"kind": "assign", "config": {"set": {key: value}}}


def kind(name, **config):
    return {"kind": name, "config": config}


def code(source, **more):
    return kind("code", source=source, **more)


def model(**more):
    return kind("model", **{"model": "scripted", "prompt": "p", "into": "x", "script": [{"say": "s"}], "pace_ms": 0, **more})


def text_of(value):
    return json.dumps(value, separators=(",", ":"))


def replaced(document, mark, raw):
    """The document's text with `raw` where it says the mark: for JSON that Python does not write."""
    return text_of(document).replace(text_of(mark), raw)


def texts():
    """Files that are no JSON, or nearly none."""
    plain = text_of(graph())
    yield "empty", ""
    yield "space", " \n\t" * 1000
    yield "bom", "\ufeff" + plain
    yield "bom-twice", "\ufeff\ufeff" + plain
    yield "utf16", plain.encode("utf-16")
    yield "utf32", plain.encode("utf-32")
    yield "latin1", plain.replace('"g"', '"\xe9"').encode("latin-1")
    yield "overlong", plain.encode().replace(b'"g"', b'"\xc0\xaf"')
    yield "surrogate-bytes", plain.encode().replace(b'"g"', b'"\xed\xa0\x80"')
    yield "nul", plain.replace('"g"', '"\0"')
    yield "nul-escaped", plain.replace('"g"', '"\\u0000"')
    yield "nuls", "\0" * MB
    yield "random", random.Random(1).randbytes(MB)
    yield "truncated", plain[:-5]
    yield "trailing", plain + "}" * 1000
    yield "two", plain + plain
    yield "comments", "// c\n" + plain
    yield "single-quotes", plain.replace('"', "'")
    yield "nan", replaced(graph(state={"x": {"default": "@"}}), "@", "NaN")
    yield "top-array", "[" + plain + "]"
    yield "top-text", '"' + "a" * MB + '"'
    yield "top-number", "9" * MB
    yield "deep-arrays", "[" * 200_000
    yield "deep-objects", '{"a":' * 200_000
    yield "deep-closed", "[" * 100_000 + "]" * 100_000
    yield "deep-mixed", '[{"a":' * 50_000 + "1" + "}]" * 50_000
    yield "many-commas", "[" + "," * MB
    yield "quote-only", '"'
    yield "backslashes", '"' + "\\" * MB
    yield "lone-surrogate", plain.replace('"g"', '"\\ud800"')
    yield "reversed-surrogates", plain.replace('"g"', '"\\udc00\\ud800"')
    yield "bad-escape", plain.replace('"g"', '"\\x41"')
    yield "control", plain.replace('"g"', '"\x01\x1b[31m"')
    yield "duplicate-names", '{"format":"superstep/1","nodes":{},"nodes":' + text_of(graph()["nodes"]) + "}"
    yield "duplicate-many", "{" + ",".join('"nodes":{}' for _ in range(20_000)) + "}"
    yield "proto", plain.replace('"g"', '{"__proto__":{"x":1},"constructor":null}')
    yield "crlf", plain.replace(",", ",\r\n\r\n\r")
    yield "line-separators", plain.replace('"g"', '"\u2028\u2029\u0085"')
    yield "bidi", plain.replace('"g"', '"\u202e\u2066\u200f"')
    yield "terminal", plain.replace('"g"', '"\\u001b]0;x\\u0007\\u001b[2J"')


NUMBERS = {
    "huge": "1e999", "minus-huge": "-1e999", "tiny": "1e-999", "u64": "18446744073709551615", "over-u64": "18446744073709551616",
    "i64": "-9223372036854775808", "under-i64": "-9223372036854775809", "long": "1" * 100_000, "fraction": "0." + "1" * 100_000,
    "minus-zero": "-0.0", "half": "0.5", "negative": "-1", "exponent": "1e" + "0" * 1000 + "1",
}  # fmt: skip


def numbers():
    """Numbers where numbers are asked for."""
    places = {
        "recursion": lambda at: graph(recursion_limit=at),
        "packets": lambda at: graph(limits={"packets": at, "state_mb": at, "packet_mb": at}),
        "retry": lambda at: graph({"a": {**assign("1/0"), "retry": {"attempts": at, "initial_interval": at}}}),
        "timeout": lambda at: graph({"a": {**assign("1"), "timeout": {"run": at, "idle": at}}}),
        "cache": lambda at: graph({"a": {**assign("1"), "cache": {"ttl": at}}}),
        "concurrency": lambda at: graph({"a": {**assign("1"), "concurrency": at, "max_visits": at}}),
        "delay": lambda at: graph({"a": kind("delay", seconds=at)}),
        "code": lambda at: graph({"a": code("return {x:1}", timeout_ms=at, memory_mb=at)}),
        "layout": lambda at: graph(layout={"a": [at, at]}),
        "default": lambda at: graph(state={"x": {"type": "integer", "reducer": "add", "default": at}}),
        "schema": lambda at: graph(state={"x": {"type": "array", "minItems": at, "maxLength": at, "multipleOf": at}}),
    }
    for place, make in places.items():
        for name, raw in NUMBERS.items():
            yield f"{place}-{name}", replaced(make("@"), "@", raw)


def types():
    """Wrong types everywhere: each member of a document is replaced by a value of each other type."""
    whole = graph(
        {"a": {**assign("1"), "title": "t", "retry": 2, "timeout": 1, "cache": True, "fallback": {"value": {"x": 1}}},
         "b": kind("ask", question="q", answer={"type": "string"}, into="x")},
        [{"from": "__start__", "to": "a"}, {"from": "a", "route": "state.x", "paths": {"1": "b"}, "default": "__end__"},
         {"from": "b", "each": "state.x", "as": "i", "to": "a", "with": {"x": "1"}}],
        {"x": {"type": "integer", "reducer": "add", "default": 0}},
        input=["x"], output=["x"], layout={"a": [1, 2]}, examples=[{"name": "n", "input": {"x": 1}}], limits={"packets": 3},
    )  # fmt: skip

    def places(value, path=()):
        yield path
        members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, member in members:
            yield from places(member, (*path, key))

    for path in places(whole):
        # All wrong types of a place in one case would hide each other: one at a time, chosen by the place.
        for wrong in (None, True, -1, "", [], {}, [[]], {"": {}}):
            copy = json.loads(text_of(whole))
            if not path:
                copy = wrong
            else:
                at = copy
                for step in path[:-1]:
                    at = at[step]
                at[path[-1]] = wrong
            yield f"{'.'.join(map(str, path)) or 'all'}-{text_of(wrong)}", copy


def names():
    odd = {
        "empty": "", "long": "n" * MB, "dots": "..", "slash": "../../etc/passwd", "nul": "\0", "newline": "a\nb", "colon": "a:b|c",
        "proto": "__proto__", "quote": '"];alert(1)//', "html": "<script>", "mermaid": 'x"]-->y["z', "rtl": "\u202eabc",
        "emoji": "\U0001f600" * 1000, "combining": "e" + "\u0301" * 10_000, "template": "{{ 7*7 }}", "dollar": "${HOME}", "wide": "\uff41",
    }  # fmt: skip
    for name, odd_name in odd.items():
        yield f"node-{name}", graph({odd_name: assign("1")})
        yield f"key-{name}", graph({"a": assign("1", odd_name)}, state={odd_name: {}})
        yield f"title-{name}", graph({"a": {**assign("1"), "title": odd_name, "description": odd_name}}, name=odd_name)
        yield f"path-{name}", graph({"a": kind("graph", graph=odd_name)})


def expressions():
    n = 20_000
    bombs = {
        "index": "state" + "[0]" * n, "call": "state" + "()" * n, "slice": "state" + "[:]" * n, "dot": "state" + ".a" * n,
        "filter": "state" + "|list" * n, "not": "not " * n + "1", "minus": "-" * n + "1", "plus": "1" + "+1" * n,
        "and": "1" + " and 1" * n, "compare": "1" + " < 1" * n, "concat": "'a'" + " ~ 'a'" * n, "power": "9" + "**9" * 50,
        "parens": "(" * n + "1" + ")" * n, "lists": "[" * n + "]" * n, "dicts": "{'a':" * n + "1" + "}" * n,
        "ternary": "1 if 1 else " * n + "1", "in": "1" + " in [1]" * n, "is": "1" + " is defined" * n,
        "range": "range(100000)|list", "range-min": "range(10, -9223372036854775808, -1)|list",
        "range-max": "range(9223372036854775807)|list", "multiply": "'a' * 1000000000", "multiply-list": "[0] * 1000000000",
        "join": "(range(100000)|list)|join('x' * 100000)", "pad": "'%1000000000d'|format(1)", "indent": "'a\n'|indent(1000000000)",
        "center": "'a'|center(1000000000)", "replace": "('a' * 100000)|replace('a', 'a' * 100000)", "divide": "1 // 0", "modulo": "1 % 0",
        "min-divide": "-9223372036854775808 // -1", "shift": "2 ** 63 ** 63", "sort": "(range(100000)|list)|sort|reverse|unique|list",
        "batch": "[1]|batch(1000000000)|list", "slice-huge": "'a'[9223372036854775807:-9223372036854775808:-9223372036854775808]",
        "round": "1.5|round(1000000000)", "split": "('a,' * 1000000)|split(',')", "tojson": "state|tojson * 100000", "self": "self", "loop": "loop",
        "string": "'" + "a" * 4 * MB + "'", "quote": "'", "brace": "}}", "tag": "{% for %}", "unicode": "'\U0001f600' * 10000000",
        "attr": "''.__class__.__mro__", "attribute": "[1]|map(attribute='a' * 100000)|list", "groupby": "range(100000)|groupby('a')|list",
        "pprint": "state|pprint", "int": "('9' * 100000)|int", "float": "'1e999'|float|int", "namespace": "namespace(a=1)",
        "dictsort": "{'a': 1}|dictsort(by=1)", "zip": "zip(range(100000), range(100000))|list", "lipsum": "lipsum(1000000)",
        "urlencode": "('\u20ac' * 1000000)|urlencode", "regex": "('a' * 100000)|upper|lower|title|capitalize",
    }  # fmt: skip
    for name, bomb in bombs.items():
        yield f"set-{name}", graph({"a": assign(bomb)})
        yield f"when-{name}", graph(edges=[{"from": "__start__", "to": "a"}, {"from": "a", "to": "__end__", "when": bomb}])


def templates():
    n = 20_000
    bombs = {
        "if": "{% if 1 %}" * n, "if-closed": "{% if 1 %}" * n + "{% endif %}" * n, "elif": "{% if 0 %}" + "{% elif 0 %}" * n + "{% endif %}",
        "for": "{% for a in range(1000) %}" * 6 + "x" + "{% endfor %}" * 6, "for-deep": "{% for a in [1] %}" * n + "{% endfor %}" * n,
        "set": "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 60 + "{{ a }}", "macro": "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "macros": "".join(f"{{% macro m{i}() %}}{{{{ m{i-1}() }}}}{{{{ m{i-1}() }}}}{{% endmacro %}}" for i in range(1, 40)) + "{{ m39() }}",
        "include": "{% include 'graph.json' %}", "import": "{% import '/etc/passwd' as p %}", "extends": "{% extends 'x' %}",
        "raw": "{% raw %}" * 10_000, "comment": "{#" * 50_000, "comments": "{# #}" * 100_000, "open": "{{" * 50_000, "close": "}}" * 50_000,
        "with": "{% with a=1 %}" * n + "{% endwith %}" * n, "filter-block": "{% filter upper %}" * n + "x" + "{% endfilter %}" * n,
        "autoescape": "{% autoescape true %}" * n + "{% endautoescape %}" * n, "call": "{% call x() %}" * 1000, "block": "{% block a %}" * n,
        "newlines": "\n" * MB + "{{ 1 }}", "columns": " " * 70_000 + "{{ 1 +", "lines": "\n" * 70_000 + "{{ 1 +", "text": "x" * 8 * MB,
        "recursive": "{% for a in [[]] recursive %}{{ loop([a]) }}{% endfor %}", "do": "{% do [].append(1) %}", "long-name": "{{ " + "a" * MB + " }}",
        "whitespace": "{%- " * n, "nested-strings": "{{ \"" + "{{ '" * n, "namespace": "{% set ns = namespace(a=[]) %}" + "{% set ns.a = [ns.a, ns.a] %}" * 60 + "{{ ns.a }}",
    }  # fmt: skip
    for name, bomb in bombs.items():
        yield f"prompt-{name}", graph({"a": model(prompt=bomb, script=[{"say": bomb}])})
        yield f"question-{name}", graph({"a": kind("ask", question=bomb, into="x")})


def schemas():
    again = {"type": "array", "items": {"$ref": "#/$defs/t"}}
    doubling = {"t0": {"type": "integer"}}
    for n in range(1, 60):
        doubling[f"t{n}"] = {"anyOf": [{"$ref": f"#/$defs/t{n-1}"}] * 2}
    deep = {"type": "integer"}
    for _ in range(100):
        deep = {"type": "array", "items": deep}
    pattern = lambda text: {"type": "string", "pattern": text}
    bombs = {
        "self": {"$ref": "#"}, "circle": {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        "tangle": {"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [again] * 3}}}, "doubling": {"$ref": "#/$defs/t59", "$defs": doubling},
        "remote": {"$ref": "http://127.0.0.1:9/schema"}, "file": {"$ref": "file:///etc/passwd"}, "missing": {"$ref": "#/$defs/none"},
        "pointer": {"$ref": "#/" + "a/" * 100_000}, "anchor": {"$ref": "#" + "a" * MB}, "dynamic": {"$dynamicRef": "#a", "$dynamicAnchor": "a"},
        "deep": deep, "wide": {"anyOf": [{"const": n} for n in range(50_000)]}, "enum": {"enum": list(range(100_000))},
        "all-of": {"allOf": [{"type": "string"}, {"type": "number"}]}, "not": {"not": {"not": {"not": {}}}}, "false": False,
        "regex-nested": pattern("^(a+)+$"), "regex-or": pattern("^(a|a|a)*$"), "regex-look": pattern("(?=(a+)+b)"), "regex-back": pattern("(a*)*\\1b"),
        "regex-repeat": pattern("a{1000}{1000}{1000}"), "regex-class": pattern("[" + "\\w" * 50_000 + "]"), "regex-open": pattern("(" * 50_000),
        "regex-bad": pattern("["), "regex-unicode": pattern("\\p{L}" * 10_000), "regex-long": pattern("a|" * MB),
        "properties": {"patternProperties": {"^(a+)+$": {}}, "type": "object"}, "multiple": {"multipleOf": 1e-300}, "bounds": {"minimum": 1e308, "maximum": -1e308},
        "format": {"format": "email"}, "type-list": {"type": ["string"] * 10_000}, "type-wrong": {"type": 7}, "draft": {"$schema": "http://evil.example/schema"},
        "id": {"$id": "http://evil.example/", "$ref": "other"}, "unevaluated": {"allOf": [{"unevaluatedProperties": False}] * 1000, "unevaluatedProperties": False},
    }  # fmt: skip
    value = "'" + "a" * 2000 + "!'"
    nested = "[" * 30 + "]" * 30
    for name, bomb in bombs.items():
        state = {"x": bomb if isinstance(bomb, dict) else {"allOf": [bomb]}}
        yield f"state-text-{name}", graph({"a": assign(value)}, state=state)
        yield f"state-list-{name}", graph({"a": assign(nested)}, state=state)
        yield f"ask-{name}", graph({"a": kind("ask", question="q", answer=bomb, into="x", choices=[{"label": "l", "value": "aaaa!"}])})
        yield f"output-{name}", graph({"a": model(output=bomb, script=[{"say": text_of("a" * 2000 + "!")}])})


def programs():
    sources = {
        "loop": "for(;;);", "recursion": "function f(){return f()} return f()", "memory": "let a=[];for(;;)a.push(new Array(1e6).fill(1))",
        "join": "return {x: Array(2**32-1).join('ab')}", "copy": "let a=[];a.length=2**32-1;a.copyWithin(0,1)", "reverse": "Array.prototype.reverse.call({length:2**53-1})",
        "regex": "return {x: /^(a+)+$/.test('a'.repeat(40)+'!')}", "big": "return {x: String(9n**9999999n)}", "promise": "await new Promise(()=>{})",
        "deep": "let a=[];for(let i=0;i<1e5;i++)a=[a];return {x:a}", "circle": "let a={};a.a=a;return {x:a}", "getter": "return {get x(){for(;;);}}",
        "proxy": "return new Proxy({},{ownKeys(){for(;;);}})", "throw": "throw {toString(){throw 1}}", "throw-null": "throw null", "symbol": "return {x:Symbol()}",
        "text": "return {x:'a'.repeat(2**29)}", "sends": "return new Command({goto:Array.from({length:100000},(_, i)=>new Send('a',{i}))})",
        "goto": "return new Command({goto:'__start__'})", "console": "for(;;)console.log('a'.repeat(1000))", "eval": "return eval('1'.repeat(1e7))",
        "syntax": "}{" * 10_000, "parens": "return " + "(" * 50_000, "arrays": "return " + "[" * 50_000, "close": "} finally {} function x() {", "unicode": "return {x:'\\ud800'}",
        "import": "return {x: await import('/etc/passwd')}", "import-out": "return {x: await import('../../../etc/passwd')}", "nul": "return {x:'\0'}",
        "sort": "return {x:[3,1].sort(()=>{for(;;);})}", "json": "return {x:JSON.parse('['.repeat(1e6))}", "then": "return {then(){}}", "array": "return []", "number": "return 7",
    }  # fmt: skip
    for name, source in sources.items():
        yield f"js-{name}", graph({"a": code(source)})


def shapes():
    """Graphs that are large or odd."""
    many = 20_000
    yield "nodes", graph({f"n{i}": assign("1") for i in range(many)})
    yield "parallel", graph({f"n{i}": assign("1") for i in range(many)}, [{"from": "__start__", "to": f"n{i}"} for i in range(many)])
    yield "edges", graph(edges=[{"from": "__start__", "to": "a"}] * many)
    yield "join", graph(edges=[{"from": ["a"] * many, "to": "a"}])
    yield "keys", graph(state={f"k{i}": {} for i in range(many)})
    yield "paths", graph(edges=[{"from": "__start__", "route": "state.x", "paths": {str(i): "a" for i in range(many)}}])
    yield "complete", graph({f"n{i}": assign("1") for i in range(150)}, [{"from": f"n{i}", "to": f"n{j}"} for i in range(150) for j in range(150)])
    yield "loop", graph(edges=[{"from": "__start__", "to": "a"}, {"from": "a", "to": "a"}], recursion_limit=2000)
    yield "growth", graph({"a": assign("state.x ~ state.x ~ 'aaaaaaaa'")}, [{"from": "__start__", "to": "a"}, {"from": "a", "to": "a"}], {"x": {"type": "string"}})
    yield "each", graph(edges=[{"from": "__start__", "each": "range(100000)", "as": "x", "to": "a"}])
    yield "each-again", graph(edges=[{"from": "__start__", "to": "a"}, {"from": "a", "each": "range(1000)", "as": "x", "to": "a"}])
    yield "examples", graph(examples=[{"name": str(i), "input": {"x": i}} for i in range(many)])
    yield "layout", graph(layout={f"n{i}": [i, i] for i in range(many)})
    yield "fallbacks", graph({f"n{i}": {**assign("1/0"), "fallback": {"node": f"n{(i + 1) % 50}"}} for i in range(50)}, [{"from": "__start__", "to": "n0"}])
    yield "unknown-fields", graph(**{f"x{i}": i for i in range(many)})
    yield "kinds", graph({f"n{i}": kind("k" * 1000, a=i) for i in range(500)})
    deep = 1
    for _ in range(500):
        deep = [deep]
    yield "deep-config", replaced(graph({"a": kind("assign", set={"x": "@"})}), "@", text_of(deep))
    yield "deep-default", replaced(graph(state={"x": {"default": "@"}}), "@", "[" * 120 + "]" * 120)
    yield "each-text", graph(edges=[{"from": "__start__", "each": "'a' * 100000", "as": "x", "to": "a"}])
    yield "map", graph({"a": kind("map", **{"items": "range(100000)", "as": "i", "into": "x", "graph": "graph.json", "take": "1"})})
    yield "agent", graph({"a": kind("agent", model="scripted", messages="x", script=[{"say": "a"}] * 5000)}, state={"x": {"type": "array", "reducer": "add_messages"}})


def files():
    """Names of files that lead elsewhere, and files that are none. (name, files)"""
    nested = graph({"a": kind("graph", graph="graph.json")})
    retrieve = graph({"a": kind("retrieve", folder="d", query="'a'", into="x")})
    yield "graph-fifo", {"graph.json": Fifo()}
    for name, target in {"zero": "/dev/zero", "random": "/dev/urandom", "stdin": "/dev/stdin", "tty": "/dev/tty", "mem": "/proc/self/mem",
                         "self": "graph.json", "none": "/nowhere", "folder": "/etc", "passwd": "/etc/passwd", "full": "/dev/full"}.items():  # fmt: skip
        yield f"graph-link-{name}", {"graph.json": Link(target)}
        yield f"readme-link-{name}", {"graph.json": graph(), "README.md": Link(target)}
        yield f"nested-link-{name}", {"graph.json": graph({"a": kind("graph", graph="n.json")}), "n.json": Link(target)}
        yield f"retrieve-link-{name}", {"graph.json": retrieve, "d/a.md": Link(target)}
        yield f"module-link-{name}", {"graph.json": graph({"a": code("import {f} from './m.js'; return {x: f()}", module="m.js")}), "m.js": Link(target)}
        yield f"mcp-link-{name}", {"graph.json": graph({"a": kind("tools", messages="x", mcp=[{"server": "s"}])}), ".mcp.json": Link(target)}
    for place in ("README.md", "n.json", "d/a.md", ".mcp.json", "m.js", "recordings/models.jsonl", "models.json"):
        yield f"fifo-{place.replace('/', '-')}", {
            "graph.json": graph({"a": kind("graph", graph="n.json"), "b": kind("retrieve", folder="d", query="'a'", into="x"), "c": model(recording="replay")}),
            place: Fifo(),
        }
    yield "nested-self", {"graph.json": nested}
    yield "nested-two", {"graph.json": graph({"a": kind("graph", graph="n.json")}), "n.json": nested}
    yield "nested-many", {"graph.json": graph({f"n{i}": kind("graph", graph="0.json") for i in range(3)}),
                          **{f"{k}.json": graph({f"n{i}": kind("graph", graph=f"{k + 1}.json") for i in range(3)}) for k in range(14)}, "14.json": graph()}  # fmt: skip
    for name, path in {"up": "../../../etc/passwd", "absolute": "/etc/passwd", "zero": "/dev/zero", "url": "http://127.0.0.1:9/g", "nul": "a\0b", "dot": ".", "long": "a/" * 5000}.items():
        yield f"nested-path-{name}", {"graph.json": graph({"a": kind("graph", graph=path)})}
        yield f"retrieve-path-{name}", {"graph.json": graph({"a": kind("retrieve", folder=path, query="'a'", into="x")})}
        yield f"image-path-{name}", {"graph.json": graph({"a": model(images=[path])})}
    yield "retrieve-loop", {"graph.json": retrieve, "d/d": Link("../d")}
    yield "retrieve-many", {"graph.json": retrieve, **{f"d/{i}.md": "a " * 50 for i in range(3000)}}
    yield "retrieve-long-line", {"graph.json": retrieve, "d/a.md": "a" * 20 * MB}
    yield "retrieve-html", {"graph.json": retrieve, "d/a.html": "<div>" * 500_000}
    yield "retrieve-pdf", {"graph.json": retrieve, "d/a.pdf": b"%PDF-1.7\n" + b"1 0 obj <<" * 100_000}
    yield "readme-large", {"graph.json": graph(), "README.md": "#" * 50 * MB}
    yield "mcp-deep", {"graph.json": graph({"a": kind("tools", messages="x", mcp=[{"server": "s"}])}), ".mcp.json": "[" * 200_000}


FAMILIES = {
    "text": texts, "number": numbers, "type": types, "name": names, "expression": expressions, "template": templates, "schema": schemas, "program": programs,
    "shape": shapes, "file": files,
}  # fmt: skip


def cases():
    for family, make in FAMILIES.items():
        for name, content in make():
            given = content if family == "file" else {"graph.json": content}
            yield f"{family}-{name}", given


def write(folder, files):
    for name, content in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if isinstance(content, Link):
            os.symlink(content, path)
        elif isinstance(content, Fifo):
            os.mkfifo(path)
        elif isinstance(content, bytes):
            with open(path, "wb") as file:
                file.write(content)
        else:
            text = content if isinstance(content, str) else text_of(content)
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
