#!/bin/sh
# LangGraph's stores in memory: a search by meaning finds an item by words that it no longer holds.
#
# A note has the tags "cat" and "dog", and each is embedded. Then the note is put again with one tag, "bird". The vectors of
# the first value that have no successor stay: a search for "dog" gives the note the highest score. Putting it again
# with `index=False`, which the documentation explains as "disable indexing for this item", leaves its vectors as they are.
# In Python a delete takes them away. In JavaScript they outlive it: another note, put later under the same key without an
# index, is found by the words of the deleted one. (langgraph-checkpoint 4.3.2; @langchain/langgraph-checkpoint 1.2.2)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check langgraph-checkpoint==4.3.2 \
  langchain-core==1.8.3
npm install --prefix "$folder" --silent --no-audit --no-fund @langchain/langgraph-checkpoint@1.2.2 @langchain/core@1.4.0

cat >"$folder/try.py" <<'PYTHON'
import logging

from langgraph.store.memory import InMemoryStore

logging.disable(logging.CRITICAL)


def embed(texts):
    return [[float(text == "cat"), float(text == "dog"), 0.1] for text in texts]


store = InMemoryStore(index={"dims": 3, "embed": embed, "fields": ["tags[*]"]})


def search(moment):
    found = [f"{item.key} {'no score' if item.score is None else round(item.score, 1)}" for item in store.search(("n",), query="dog")]
    print(f"Python, {moment}: {found}")


store.put(("n",), "other", {"tags": ["bird"]})
store.put(("n",), "note", {"tags": ["cat", "dog"]})
search("two tags")
store.put(("n",), "note", {"tags": ["bird"]})
search("put with one tag")
store.put(("n",), "note", {"tags": ["bird"]}, index=False)
search("put without an index")
store.delete(("n",), "note")
store.put(("n",), "note", {"tags": ["new"]}, index=False)
search("deleted, put without an index")
PYTHON
cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { InMemoryStore } from "@langchain/langgraph-checkpoint";

const vector = (text) => [Number(text === "cat"), Number(text === "dog"), 0.1];
const embeddings = { embedQuery: async (text) => vector(text), embedDocuments: async (texts) => texts.map(vector) };
const store = new InMemoryStore({ index: { dims: 3, embeddings, fields: ["tags[*]"] } });

async function search(moment) {
  const found = (await store.search(["n"], { query: "dog" })).map((item) => `${item.key} ${item.score?.toFixed(1) ?? "no score"}`);
  console.log(`JS, ${moment}: ${JSON.stringify(found)}`);
}

await store.put(["n"], "other", { tags: ["bird"] });
await store.put(["n"], "note", { tags: ["cat", "dog"] });
await search("two tags");
await store.put(["n"], "note", { tags: ["bird"] });
await search("put with one tag");
await store.put(["n"], "note", { tags: ["bird"] }, false);
await search("put without an index");
await store.delete(["n"], "note");
await store.put(["n"], "note", { tags: ["new"] }, false);
await search("deleted, put without an index");
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
Python, two tags: ['note 1.0', 'other 0.1']
Python, put with one tag: ['note 1.0', 'other 0.1']
Python, put without an index: ['note 1.0', 'other 0.1']
Python, deleted, put without an index: ['other 0.1', 'note no score']
JS, two tags: ["note 1.0","other 0.1"]
JS, put with one tag: ["note 1.0","other 0.1"]
JS, put without an index: ["note 1.0","other 0.1"]
JS, deleted, put without an index: ["note 1.0","other 0.1"]
TEXT
"$folder/venv/bin/python" "$folder/try.py" >"$folder/seen"
node "$folder/try.mjs" >>"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
