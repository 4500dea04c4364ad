#!/bin/sh
# LangChain.js: `trimMessages` with `allowPartial` shortens the messages that it was given, even one that it leaves out.
#
# A conversation is cut to a budget before it goes to the model: `strategy: "first"`, `allowPartial: true`. What comes back is
# right. But the message of the caller, which is the one in the state of the graph, holds the cut text from then on, and a
# text in blocks has become one string. With a budget that no part of the message fits into, it is not among what
# comes back, and still all but its first line is gone from the caller's list. The function of that name in Python works
# on a copy. (@langchain/core 1.4.0; langchain-core 1.8.3)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/core@1.4.0

cat >"$folder/try.py" <<'PYTHON'
from langchain_core.messages import HumanMessage, trim_messages


def characters(messages):
    return sum(len(message.content) for message in messages)


for budget in (20, 6):
    messages = [HumanMessage("Hello!"), HumanMessage("Order 17:\ntwo lamps\none table")]
    kept = trim_messages(messages, max_tokens=budget, token_counter=characters, strategy="first", allow_partial=True)
    print(f"Python, {budget} characters: kept {[message.content for message in kept]}")
    print(f"  the caller's second message: {messages[1].content!r}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { HumanMessage, trimMessages } from "@langchain/core/messages";

const text = (message) => (typeof message.content === "string" ? message.content : message.content.map((block) => block.text).join(""));
const tokenCounter = (messages) => messages.reduce((sum, message) => sum + text(message).length, 0);
const order = "Order 17:\ntwo lamps\none table";
for (const [title, budget, content] of [
  ["20 characters", 20, order],
  ["6 characters", 6, order],
  ["20 characters, in a block", 20, [{ type: "text", text: order }]],
]) {
  const messages = [new HumanMessage("Hello!"), new HumanMessage({ content })];
  const kept = await trimMessages(messages, { maxTokens: budget, tokenCounter, strategy: "first", allowPartial: true });
  console.log(`JS, ${title}: kept ${JSON.stringify(kept.map((message) => message.content))}`);
  console.log(`  the caller's second message: ${JSON.stringify(messages[1].content)}`);
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, 20 characters: kept ['Hello!', 'Order 17:\n']
  the caller's second message: 'Order 17:\ntwo lamps\none table'
Python, 6 characters: kept ['Hello!']
  the caller's second message: 'Order 17:\ntwo lamps\none table'
JS, 20 characters: kept ["Hello!","Order 17:\n"]
  the caller's second message: "Order 17:\n"
JS, 6 characters: kept ["Hello!"]
  the caller's second message: "Order 17:\n"
JS, 20 characters, in a block: kept ["Hello!","Order 17:\n"]
  the caller's second message: "Order 17:\n"
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
