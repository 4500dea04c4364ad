#!/bin/sh
# LangChain.js: `trimMessages` with `includeSystem` gives a list of one `undefined` where the system message should be left.
#
# The usual trimming of a chat: the last messages that fit, beginning with one of the user, with the system message kept. When
# the last question is longer than the budget, Python keeps the system message. JavaScript takes it for a message that is no
# question and drops it too, then puts the first of nothing in front of nothing: `[undefined]`, of length one. Its
# documentation says that `startOn` does not apply to a system message that is kept. The same comes of a budget
# that is smaller than the system message. (@langchain/core 1.4.0; langchain-core 1.8.3)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/core@1.4.0

cat >"$folder/try.py" <<'PYTHON'
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages


def characters(messages):
    return sum(len(message.content) for message in messages)


messages = [SystemMessage("Be kind."), HumanMessage("A long question of a user"), AIMessage("Yes.")]
for budget in (60, 20, 4):
    kept = trim_messages(
        messages, max_tokens=budget, token_counter=characters, strategy="last", include_system=True, start_on="human"
    )
    print(f"Python, {budget} characters: {[message.content for message in kept]}")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { AIMessage, HumanMessage, SystemMessage, trimMessages } from "@langchain/core/messages";

const tokenCounter = (messages) => messages.reduce((sum, message) => sum + message.content.length, 0);
const messages = [new SystemMessage("Be kind."), new HumanMessage("A long question of a user"), new AIMessage("Yes.")];
for (const budget of [60, 20, 4]) {
  const kept = await trimMessages(messages, {
    maxTokens: budget,
    tokenCounter,
    strategy: "last",
    includeSystem: true,
    startOn: "human",
  });
  console.log(`JS, ${budget} characters:`, kept.map((message) => message?.content));
}
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, 60 characters: ['Be kind.', 'A long question of a user', 'Yes.']
Python, 20 characters: ['Be kind.']
Python, 4 characters: ['Be kind.']
JS, 60 characters: [ 'Be kind.', 'A long question of a user', 'Yes.' ]
JS, 20 characters: [ undefined ]
JS, 4 characters: [ undefined ]
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
