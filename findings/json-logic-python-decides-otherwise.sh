#!/bin/sh
# JsonLogic: the rule "fewer than 5" holds for what is missing in JavaScript, and not in Python.
#
# JsonLogic is a form for rules that a page and a server share. The library in JavaScript compares a missing or null value as 0
# with `<`, takes an empty object for true, gives a remainder the sign of the first number, and writes true and null into a text
# as "true" and nothing. The one in Python says the opposite in each, without an error: the page lets a customer without orders
# through, the server does not, the text holds Python's "True" and "None".
# (json-logic-js 2.0.5, json-logic-qubit 0.9.1)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check json-logic-qubit==0.9.1
npm install --prefix "$folder" --silent --no-audit --no-fund json-logic-js@2.0.5

cat >"$folder/rules.json" <<'TEXT'
[
  ["fewer than 5, missing", { "<": [{ "var": "orders" }, 5] }, {}],
  ["fewer than 5, null", { "<": [{ "var": "orders" }, 5] }, { "orders": null }],
  ["fewer than 5, 3", { "<": [{ "var": "orders" }, 5] }, { "orders": 3 }],
  ["an empty object is true", { "!!": [{ "var": "filter" }] }, { "filter": {} }],
  ["remainder of -1 by 3", { "%": [-1, 3] }, {}],
  ["a text of true and null", { "cat": ["paid: ", { "var": "paid" }, { "var": "note" }] }, { "paid": true, "note": null }],
  ["1 is in a list with true", { "in": [1, { "var": "flags" }] }, { "flags": [true] }]
]
TEXT
cat >"$folder/try.py" <<'PYTHON'
import json
import sys

from json_logic import jsonLogic

for title, rule, data in json.load(open(sys.argv[1])):
    print(f"Python, {title}: {json.dumps(jsonLogic(rule, data))}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import jsonLogic from "json-logic-js";

for (const [title, rule, data] of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  console.log(`JS, ${title}: ${JSON.stringify(jsonLogic.apply(rule, data))}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, fewer than 5, missing: false
Python, fewer than 5, null: false
Python, fewer than 5, 3: true
Python, an empty object is true: false
Python, remainder of -1 by 3: 2
Python, a text of true and null: "paid: TrueNone"
Python, 1 is in a list with true: true
JS, fewer than 5, missing: true
JS, fewer than 5, null: true
JS, fewer than 5, 3: true
JS, an empty object is true: true
JS, remainder of -1 by 3: -1
JS, a text of true and null: "paid: true"
JS, 1 is in a list with true: false
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/rules.json" >"$folder/seen"
node "$folder/try.mjs" "$folder/rules.json" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
