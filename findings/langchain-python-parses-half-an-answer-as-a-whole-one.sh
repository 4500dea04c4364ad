#!/bin/sh
# LangChain in Python: JSON that the limit of tokens cut is parsed as a whole answer, with half a number and half a name.
#
# A model is asked for JSON, and its answer ends at the limit (`finish_reason` is "length") in the middle of an amount or a name.
# JsonOutputParser and PydanticOutputParser read a finished message with the parser that is meant for streams: it closes what is
# open, and the part stands for the whole, checked against the model of pydantic; keys that did not come have their defaults, of
# a list the entries that came are returned. Nothing is raised and nothing says so. The parsers of LangChain in JavaScript
# refuse the same texts, as does `generateObject` of the AI SDK. (langchain-core 1.8.3, pydantic 2.14.4; @langchain/core 1.4.0,
# ai 6.0.326, zod 4.6.7)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3 pydantic==2.14.4
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/core@1.4.0 ai@6.0.326 zod@4.6.7

cat >"$folder/answers.json" <<'TEXT'
["{\"amount\": 1250}", "{\"amount\": 12", "{\"amount\": 1250, \"to\": \"Ann", "[{\"amount\": 1250}, {\"amount\": 3"]
TEXT
cat >"$folder/try.py" <<'PYTHON'
import json
import sys

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from pydantic import BaseModel


class Payment(BaseModel):
    amount: int
    to: str = "the customer"


for answer in json.load(open(sys.argv[1])):
    message = AIMessage(answer, response_metadata={"finish_reason": "length"})
    for parser in (JsonOutputParser(), PydanticOutputParser(pydantic_object=Payment)):
        try:
            parsed = parser.invoke(message)
        except OutputParserException:
            parsed = "refused"
        print(f"Python, {type(parser).__name__}, {answer}: {parsed}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { AIMessage } from "@langchain/core/messages";
import { JsonOutputParser, StructuredOutputParser } from "@langchain/core/output_parsers";
import { generateObject } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const schema = z.object({ amount: z.number(), to: z.string().default("the customer") });
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
for (const answer of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const message = new AIMessage({ content: answer, response_metadata: { finish_reason: "length" } });
  const result = { content: [{ type: "text", text: answer }], finishReason: { unified: "length" }, usage, warnings: [] };
  const model = new MockLanguageModelV3({ doGenerate: async () => result });
  for (const [name, parse] of Object.entries({
    JsonOutputParser: () => new JsonOutputParser().invoke(message),
    StructuredOutputParser: () => StructuredOutputParser.fromZodSchema(schema).invoke(message),
    generateObject: async () => (await generateObject({ model, schema, prompt: "Pay" })).object,
  })) {
    const parsed = await parse().then(JSON.stringify, () => "refused");
    console.log(`JavaScript, ${name}, ${answer}: ${parsed}`);
  }
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, JsonOutputParser, {"amount": 1250}: {'amount': 1250}
Python, PydanticOutputParser, {"amount": 1250}: amount=1250 to='the customer'
Python, JsonOutputParser, {"amount": 12: {'amount': 12}
Python, PydanticOutputParser, {"amount": 12: amount=12 to='the customer'
Python, JsonOutputParser, {"amount": 1250, "to": "Ann: {'amount': 1250, 'to': 'Ann'}
Python, PydanticOutputParser, {"amount": 1250, "to": "Ann: amount=1250 to='Ann'
Python, JsonOutputParser, [{"amount": 1250}, {"amount": 3: [{'amount': 1250}, {'amount': 3}]
Python, PydanticOutputParser, [{"amount": 1250}, {"amount": 3: refused
JavaScript, JsonOutputParser, {"amount": 1250}: {"amount":1250}
JavaScript, StructuredOutputParser, {"amount": 1250}: {"amount":1250,"to":"the customer"}
JavaScript, generateObject, {"amount": 1250}: {"amount":1250,"to":"the customer"}
JavaScript, JsonOutputParser, {"amount": 12: refused
JavaScript, StructuredOutputParser, {"amount": 12: refused
JavaScript, generateObject, {"amount": 12: refused
JavaScript, JsonOutputParser, {"amount": 1250, "to": "Ann: refused
JavaScript, StructuredOutputParser, {"amount": 1250, "to": "Ann: refused
JavaScript, generateObject, {"amount": 1250, "to": "Ann: refused
JavaScript, JsonOutputParser, [{"amount": 1250}, {"amount": 3: refused
JavaScript, StructuredOutputParser, [{"amount": 1250}, {"amount": 3: refused
JavaScript, generateObject, [{"amount": 1250}, {"amount": 3: refused
TEXT
"$folder/venv/bin/python" "$folder/try.py" "$folder/answers.json" >"$folder/seen"
node "$folder/try.mjs" "$folder/answers.json" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
