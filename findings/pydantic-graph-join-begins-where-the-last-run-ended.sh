#!/bin/sh
# pydantic-graph: a join with `initial=[]` begins every further run with the results of the runs before.
#
# `g.join(reduce_list_append, initial=[])` collects what parallel steps give; the documentation says that a join takes "a
# reducer function and initial value or factory". The reducers of the library for lists and dicts change the value that they are
# given, and the initial one is not copied: the second run of the same graph, for another user, returns the results of the first
# one, too, and a result that was returned before grows afterwards. `reduce_sum` with `initial=0`, which the same page shows,
# has nothing to change. (pydantic-graph 2.68.0)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check pydantic-graph==2.68.0

cat >"$folder/try.py" <<'PYTHON'
import asyncio

from pydantic_graph import GraphBuilder, StepContext
from pydantic_graph.join import reduce_dict_update, reduce_list_append, reduce_sum


def build(reducer, given, **start):
    g = GraphBuilder(input_type=list[str], output_type=object)

    @g.step
    async def users(ctx: StepContext[None, None, list[str]]) -> list[str]:
        return ctx.inputs

    @g.step
    async def work(ctx: StepContext[None, None, str]) -> object:
        return given(ctx.inputs)

    collect = g.join(reducer, **start)
    g.add(
        g.edge_from(g.start_node).to(users),
        g.edge_from(users).map().to(work),
        g.edge_from(work).to(collect),
        g.edge_from(collect).to(g.end_node),
    )
    return g.build()


async def main():
    for name, graph in {
        "a list": build(reduce_list_append, str, initial=[]),
        "a dict": build(reduce_dict_update, lambda user: {user: 1}, initial={}),
        "a sum": build(reduce_sum, len, initial=0),
        "a list of a factory": build(reduce_list_append, str, initial_factory=list),
    }.items():
        first = await graph.run(inputs=["ada"])
        before = str(first)
        second = await graph.run(inputs=["grace"])
        print(f"{name}: {before}, then {second}; the first result is now {first}")


asyncio.run(main())
PYTHON
cat >"$folder/expected" <<'TEXT'
a list: ['ada'], then ['ada', 'grace']; the first result is now ['ada', 'grace']
a dict: {'ada': 1}, then {'ada': 1, 'grace': 1}; the first result is now {'ada': 1, 'grace': 1}
a sum: 3, then 5; the first result is now 3
a list of a factory: ['ada'], then ['grace']; the first result is now ['ada']
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
