#!/bin/sh
# XState: a state with a delay that is stored and restored waits for ever.
#
# A machine asks a person and goes on by itself after a time (`after`). Its snapshot is stored with `getPersistedSnapshot`, as the
# documentation of persistence has it, and an actor that starts from it is in the right state, takes events, and never comes to
# the transition after the delay: the timer is not in the snapshot and is not started again, whether the time had passed or not.
# An event that an action raised with a delay is lost the same way. A process that ends while an approval with a deadline waits
# has no deadline when it is back. A promise that the state invokes is started once more. (xstate 5.33.3)
#
# Installs pinned packages into a folder that is removed again, runs them, and fails when the output is another one.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder" --silent --no-audit --no-fund xstate@5.33.3

cat >"$folder/try.mjs" <<'JAVASCRIPT'
import { setTimeout as wait } from "node:timers/promises";
import { createActor, createMachine, fromPromise, raise } from "xstate";

const states = { asking: {}, expired: {}, answered: {} };
let calls = 0;
const call = fromPromise(async () => {
  calls += 1;
  await wait(1500);
});
const asking = {
  "with after": { after: { 1000: "expired" }, on: { ANSWER: "answered" } },
  "with a raised event": { entry: raise({ type: "LATE" }, { delay: 1000 }), on: { LATE: "expired", ANSWER: "answered" } },
  "with a promise": { invoke: { src: call, onDone: "expired" }, on: { ANSWER: "answered" } },
};
for (const [name, state] of Object.entries(asking)) {
  const machine = createMachine({ initial: "asking", states: { ...states, asking: state } });
  const first = createActor(machine).start();
  const stored = JSON.stringify(first.getPersistedSnapshot());
  await wait(4000);
  console.log(`${name}: ${first.getSnapshot().value} without a restart`);
  const restored = createActor(machine, { snapshot: JSON.parse(stored) }).start();
  await wait(4000);
  console.log(`${name}: ${restored.getSnapshot().value} when restored`);
  restored.send({ type: "ANSWER" });
  console.log(`${name}: ${restored.getSnapshot().value} afterwards, when answered`);
}
console.log(`the promise was started ${calls} times`);
JAVASCRIPT
cat >"$folder/expected" <<'TEXT'
with after: expired without a restart
with after: asking when restored
with after: answered afterwards, when answered
with a raised event: expired without a restart
with a raised event: asking when restored
with a raised event: answered afterwards, when answered
with a promise: expired without a restart
with a promise: expired when restored
with a promise: expired afterwards, when answered
the promise was started 2 times
TEXT
node "$folder/try.mjs" >"$folder/seen"
cat "$folder/seen"
cmp "$folder/expected" "$folder/seen"
