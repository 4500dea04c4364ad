"""Values of a case: JSON in which an object with one key that begins with `$` is computed.

The Rust side (`src/expression.rs`) computes the same; README.md lists what there is.
"""

import json


def text(value):
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def look(path, scope):
    value = scope
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list):
            index = int(part)
            value = value[index] if -len(value) <= index < len(value) else None
        else:
            return None
    return value


def fill(template, scope):
    out, rest = [], template
    while True:
        before, brace, rest = rest.partition("{")
        out.append(before)
        if not brace:
            return "".join(out)
        path, _, rest = rest.partition("}")
        out.append(text(look(path, scope)))


def true(value):
    return value not in (None, False, 0, "", [], {})


def plus(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def equal(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def compute(value, scope):
    if isinstance(value, list):
        return [compute(item, scope) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, argument),) = value.items()
        if name == "$":
            return look(argument, scope)
        if name == "$text":
            return fill(argument, scope)
        if name == "$literal":
            return argument
        if name == "$if":
            which, yes, no = argument
            return compute(yes if true(compute(which, scope)) else no, scope)
        if name == "$map":
            items, each = argument
            return [compute(each, {**scope, "item": item}) for item in compute(items, scope) or []]
        if name.startswith("$"):
            return FUNCTIONS[name](compute(argument, scope))
    return {key: compute(item, scope) for key, item in value.items()}


FUNCTIONS = {
    "$add": plus,
    "$len": lambda x: len(x) if x is not None else 0,
    "$eq": lambda x: equal(x[0], x[1]),
    "$lt": lambda x: x[0] < x[1],
    "$in": lambda x: any(equal(x[0], item) for item in x[1] or []),
    "$not": lambda x: not true(x),
    "$or": lambda x: next((item for item in x if true(item)), x[-1]),
    "$mod": lambda x: x[0] % x[1],
    "$at": lambda x: x[0][x[1]] if x[0] is not None and -len(x[0]) <= x[1] < len(x[0]) else None,
    "$tail": lambda x: (x or [])[1:],
    # A whole message, as a node that talks to a model returns it.
    "$message": lambda x: Message(x),
}


class Message(dict):
    """Marks what becomes a message object; see `record.thaw`."""
