#!/bin/sh
# cel-python: `string(paid) == "true"` is false, and `paid == 1` is true, where CEL in JavaScript says the opposite.
#
# A condition that is written once and evaluated by a server in Python and by a page in JavaScript. In cel-python the text of a
# truth value is Python's "True", so that no comparison with "true" holds and every text made of it differs, and a truth value
# is a number: it equals 1, lists and the keys of maps take one for the other, and a sum may be made of it. By CEL's
# specification the texts are "true" and "false", and a bool and an int are never equal. Two libraries in JavaScript agree with
# it. The types are told apart by `type`, also in Python. (cel-python 0.5.0; @bufbuild/cel 0.6.1, @marcbachmann/cel-js 8.0.0)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check cel-python==0.5.0
npm install --prefix "$folder" --silent --no-audit --no-fund @bufbuild/cel@0.6.1 @marcbachmann/cel-js@8.0.0

cat >"$folder/conditions.json" <<'TEXT'
[
  "string(paid) == 'true'",
  "'paid: ' + string(paid)",
  "paid == 1",
  "[paid] == [1]",
  "type(paid) == int"
]
TEXT
cat >"$folder/try.py" <<'PYTHON'
import json
import sys

import celpy

environment = celpy.Environment()
for condition in json.load(open(sys.argv[1])):
    program = environment.program(environment.compile(condition))
    print(f"cel-python: {condition} is {program.evaluate({'paid': celpy.celtypes.BoolType(True)})}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { run } from "@bufbuild/cel";
import { evaluate } from "@marcbachmann/cel-js";

const conditions = JSON.parse(readFileSync(process.argv[2], "utf8"));
for (const [name, call] of Object.entries({ "@bufbuild/cel": run, "@marcbachmann/cel-js": evaluate })) {
  for (const condition of conditions) console.log(`${name}: ${condition} is ${call(condition, { paid: true })}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
cel-python: string(paid) == 'true' is False
cel-python: 'paid: ' + string(paid) is paid: True
cel-python: paid == 1 is True
cel-python: [paid] == [1] is True
cel-python: type(paid) == int is False
@bufbuild/cel: string(paid) == 'true' is true
@bufbuild/cel: 'paid: ' + string(paid) is paid: true
@bufbuild/cel: paid == 1 is false
@bufbuild/cel: [paid] == [1] is false
@bufbuild/cel: type(paid) == int is false
@marcbachmann/cel-js: string(paid) == 'true' is true
@marcbachmann/cel-js: 'paid: ' + string(paid) is paid: true
@marcbachmann/cel-js: paid == 1 is false
@marcbachmann/cel-js: [paid] == [1] is false
@marcbachmann/cel-js: type(paid) == int is false
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/conditions.json" >"$folder/seen"
node "$folder/try.mjs" "$folder/conditions.json" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
