#!/bin/sh
# jmespath.js: `sort` puts 10 before 9, and `to_number` makes 0 of an empty text; the library in Python does neither.
#
# One expression for two languages is what JMESPath is for. Its `sort` orders numbers by their value; the library in JavaScript
# orders them by their texts, so that the first of `sort(prices)`, 9 and 10, is 10, while its `sort_by` and `min` compare
# numbers. `to_number` is null for what is no number of JSON: JavaScript gives 0 for the empty text and 16 for "0x10", Python
# 1000 for "1_000". And in Python `contains` finds true in a list with a 1, though `==` tells the two apart.
# (jmespath 1.1.0 of PyPI, jmespath 0.16.0 of npm)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check jmespath==1.1.0
npm install --prefix "$folder" --silent --no-audit --no-fund jmespath@0.16.0

cat >"$folder/cases.json" <<'TEXT'
[
  ["sort(prices)", { "prices": [10, 9, 1] }],
  ["sort(prices)[0]", { "prices": [10, 9] }],
  ["min(prices)", { "prices": [10, 9] }],
  ["sort_by(rows, &price)[*].price", { "rows": [{ "price": 10 }, { "price": 9 }] }],
  ["to_number(amount)", { "amount": "" }],
  ["to_number(amount)", { "amount": "0x10" }],
  ["to_number(amount)", { "amount": "1_000" }],
  ["contains(flags, `true`)", { "flags": [1] }],
  ["flags[0] == `true`", { "flags": [1] }]
]
TEXT
cat >"$folder/try.py" <<'PYTHON'
import json
import sys

import jmespath

for expression, value in json.load(open(sys.argv[1])):
    print("Python:", expression, "of", json.dumps(value), "is", json.dumps(jmespath.search(expression, value)))
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import jmespath from "jmespath";

for (const [expression, value] of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const result = JSON.stringify(jmespath.search(value, expression));
  console.log("JS:", expression, "of", JSON.stringify(value), "is", result);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python: sort(prices) of {"prices": [10, 9, 1]} is [1, 9, 10]
Python: sort(prices)[0] of {"prices": [10, 9]} is 9
Python: min(prices) of {"prices": [10, 9]} is 9
Python: sort_by(rows, &price)[*].price of {"rows": [{"price": 10}, {"price": 9}]} is [9, 10]
Python: to_number(amount) of {"amount": ""} is null
Python: to_number(amount) of {"amount": "0x10"} is null
Python: to_number(amount) of {"amount": "1_000"} is 1000
Python: contains(flags, `true`) of {"flags": [1]} is true
Python: flags[0] == `true` of {"flags": [1]} is false
JS: sort(prices) of {"prices":[10,9,1]} is [1,10,9]
JS: sort(prices)[0] of {"prices":[10,9]} is 10
JS: min(prices) of {"prices":[10,9]} is 9
JS: sort_by(rows, &price)[*].price of {"rows":[{"price":10},{"price":9}]} is [9,10]
JS: to_number(amount) of {"amount":""} is 0
JS: to_number(amount) of {"amount":"0x10"} is 16
JS: to_number(amount) of {"amount":"1_000"} is null
JS: contains(flags, `true`) of {"flags":[1]} is false
JS: flags[0] == `true` of {"flags":[1]} is false
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/cases.json" >"$folder/seen"
node "$folder/try.mjs" "$folder/cases.json" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
