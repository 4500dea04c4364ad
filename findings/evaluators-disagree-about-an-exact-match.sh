#!/bin/sh
# autoevals 0.4.1, openevals 0.2.2, pydantic-evals 2.62.0, agentevals 0.0.9: an "exact match" is another one in each.
#
# autoevals' `ExactMatch` compares texts: an object whose keys come in another order does not match, the number 1 matches the text "1",
# an object its JSON, and nothing the text "None". openevals' `exact_match` takes keys in any order and tells 1 from 1.0 and from true,
# and raises where nothing is expected and nothing came. pydantic-evals' `EqualsExpected` takes true for 1 and 1.0 for 1, and gives no
# score at all where nothing is expected, so that such a case neither passes nor fails. agentevals matches tool calls with the arguments
# true and 1 in its strictest mode. A data set that passes by one may fail by the next.
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check autoevals==0.4.1 openevals==0.2.2 pydantic-evals==2.62.0 agentevals==0.0.9

cat >"$folder/try.py" <<'PYTHON'
import json
import warnings

warnings.filterwarnings("ignore")

from agentevals.trajectory.match import create_trajectory_match_evaluator
from autoevals import ExactMatch
from openevals.exact import exact_match
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

PAIRS = [
    ("keys in another order", {"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ("1 and its text", 1, "1"),
    ("an object and its JSON", {"a": 1}, '{"a": 1}'),
    ("nothing and 'None'", None, "None"),
    ("nothing and nothing", None, None),
    ("1 and 1.0", 1, 1.0),
    ("true and 1", True, 1),
]


def openevals(came, expected):
    try:
        return bool(exact_match(outputs=came, reference_outputs=expected)["score"])
    except ValueError:
        return "raises"


def pydantic(came, expected):
    data = Dataset(name="one", cases=[Case(name="one", inputs=0, expected_output=expected)], evaluators=[EqualsExpected()])
    given = data.evaluate_sync(lambda _: came, progress=False).cases[0].assertions
    return given["EqualsExpected"].value if given else "no score"


def call(value):
    function = {"name": "look", "arguments": json.dumps({"deep": value})}
    return [
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": function}]},
        {"role": "tool", "content": "seen", "tool_call_id": "1"},
    ]


for name, came, expected in PAIRS:
    exact = bool(ExactMatch().eval(output=came, expected=expected).score)
    print(f"{name}: autoevals {exact}, openevals {openevals(came, expected)}, pydantic-evals {pydantic(came, expected)}")
strict = create_trajectory_match_evaluator(trajectory_match_mode="strict", tool_args_match_mode="exact")
print("tool called with true and with 1: agentevals", strict(outputs=call(True), reference_outputs=call(1))["score"])
PYTHON
cat >"$folder/expected" <<'TEXT'
keys in another order: autoevals False, openevals True, pydantic-evals True
1 and its text: autoevals True, openevals False, pydantic-evals False
an object and its JSON: autoevals True, openevals False, pydantic-evals False
nothing and 'None': autoevals True, openevals raises, pydantic-evals False
nothing and nothing: autoevals True, openevals raises, pydantic-evals no score
1 and 1.0: autoevals False, openevals False, pydantic-evals True
true and 1: autoevals False, openevals False, pydantic-evals True
tool called with true and with 1: agentevals True
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
