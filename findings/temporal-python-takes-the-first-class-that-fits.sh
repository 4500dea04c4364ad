#!/bin/sh
# Temporal's Python SDK: an activity that returns `Rejected` gives its workflow an `Approved`, when both are in its type.
#
# `-> Approved | Rejected`, two dataclasses. What is sent is the fields alone, and on the way back the first class of the union
# whose required fields are there is taken; fields that it does not know are left out without an error. So a rejection
# with its reason becomes an approval without one, and `isinstance` chooses the wrong branch. The order of the names in the
# annotation decides. The SDK's own converter for Pydantic, given the same dataclasses, brings back the right one in both.
# (temporalio 1.35.0, pydantic 2.14.4)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check temporalio==1.35.0 pydantic==2.14.4

cat >"$folder/try.py" <<'PYTHON'
import asyncio
from dataclasses import dataclass
from typing import get_type_hints

from temporalio import activity
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter
from temporalio.testing import ActivityEnvironment


@dataclass
class Approved:
    order: int
    by: str


@dataclass
class Rejected:
    order: int
    by: str
    reason: str


@activity.defn
async def decide(order: int) -> Approved | Rejected:
    return Rejected(order, "Ada", "no stock")


@activity.defn
async def decide_other_order(order: int) -> Rejected | Approved:
    return Rejected(order, "Ada", "no stock")


async def main():
    for name, converter in (("default", DataConverter.default), ("pydantic", pydantic_data_converter)):
        for run in (decide, decide_other_order):
            given = await ActivityEnvironment().run(run, 7)
            hint = get_type_hints(run)["return"]
            # What the worker of the activity and the worker of the workflow do with a result.
            got = (await converter.decode(await converter.encode([given]), [hint]))[0]
            print(f"{name}, {hint.__args__[0].__name__} first: {given} comes back as {got}")


asyncio.run(main())
PYTHON
cat >"$folder/expected" <<'TEXT'
default, Approved first: Rejected(order=7, by='Ada', reason='no stock') comes back as Approved(order=7, by='Ada')
default, Rejected first: Rejected(order=7, by='Ada', reason='no stock') comes back as Rejected(order=7, by='Ada', reason='no stock')
pydantic, Approved first: Rejected(order=7, by='Ada', reason='no stock') comes back as Rejected(order=7, by='Ada', reason='no stock')
pydantic, Rejected first: Rejected(order=7, by='Ada', reason='no stock') comes back as Rejected(order=7, by='Ada', reason='no stock')
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
