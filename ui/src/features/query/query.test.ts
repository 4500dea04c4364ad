import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MomentsFound } from "../../ipc/bindings/MomentsFound";
import { replaceHost } from "../../ipc/client";
import type { Host } from "../../ipc/client";
import { addable, EMPTY, requestOf, withCondition } from "./query";
import { startSearch, stopSearch, useSearch } from "./search";

describe("a query", () => {
  it("asks for nothing until there is something to look for", () => {
    expect(requestOf(EMPTY, "g", 0)).toBeNull();
    expect(requestOf({ ...EMPTY, words: "  " }, "g", 0)).toBeNull();
    const only = withCondition(withCondition(EMPTY, "graph", "this"), "column", "state.n");
    expect(requestOf(only, "g", 0), "a graph and columns are nothing to look for").toBeNull();
  });

  it("becomes the request of its conditions", () => {
    let query = withCondition({ ...EMPTY, words: " refund " }, "where", "state.n > 2");
    query = withCondition(query, "passed", "refund, escalate");
    query = withCondition(query, "since", "day");
    query = withCondition(query, "graph", "this");
    query = withCondition(query, "column", "state.n");
    query = withCondition(query, "atEnd", " ");
    expect(requestOf(query, "g1", Date.parse("2026-02-02T00:00:00Z"))).toEqual({
      words: "refund",
      firstWhere: "state.n > 2",
      passed: ["refund", "escalate"],
      since: "2026-02-01T00:00:00.000Z",
      graphId: "g1",
      columns: ["state.n"],
      limit: 100,
    });
    expect(addable(query)).toEqual(["status", "column"]);
    expect(new Set(query.conditions.map(({ id }) => id)).size).toBe(query.conditions.length);
  });
});

/** A host that answers when the test says so. */
class Answers {
  readonly asked: Record<string, unknown>[] = [];
  private waiting: { resolve(answer: MomentsFound): void; reject(error: Error): void }[] = [];

  readonly host = {
    kind: "web",
    rpc: (_: string, request: Record<string, unknown>) => {
      this.asked.push(request);
      return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
    },
  } as unknown as Host;

  async give(moments: number, searched: number, next?: string, total?: number): Promise<void> {
    const moment = { threadId: "t", checkpointId: "c" } as MomentsFound["moments"][number];
    const progress = {
      searched,
      unknown: 1,
      ...(next !== undefined && { next }),
      ...(total !== undefined && { total }),
    };
    this.waiting.shift()?.resolve({ moments: Array.from({ length: moments }, () => moment), progress });
    await new Promise((done) => setTimeout(done, 5));
  }

  async fail(): Promise<void> {
    this.waiting.shift()?.reject(new Error("gone"));
    await new Promise((done) => setTimeout(done, 5));
  }
}

describe("a search", () => {
  let answers: Answers;
  beforeEach(() => {
    answers = new Answers();
    replaceHost(answers.host);
    void startSearch(null);
  });
  afterEach(stopSearch);

  it("goes on from answer to answer until the last thread", async () => {
    void startSearch({ words: "x", limit: 100 });
    await answers.give(2, 30, "p1", 50);
    expect(useSearch.getState()).toMatchObject({ state: "running", searched: 30, total: 50 });
    expect(answers.asked[1]).toMatchObject({ words: "x", after: "p1" });
    await answers.give(1, 20);
    expect(useSearch.getState()).toMatchObject({ state: "done", searched: 50, total: 50, unknown: 2 });
    expect(useSearch.getState().rows).toHaveLength(3);
    expect(answers.asked).toHaveLength(2);
  });

  it("keeps what it has when it is stopped, and asks for no more", async () => {
    void startSearch({ words: "x", limit: 100 });
    await answers.give(2, 30, "p1", 50);
    stopSearch();
    await answers.give(5, 20);
    expect(useSearch.getState()).toMatchObject({ state: "stopped", searched: 30 });
    expect(useSearch.getState().rows).toHaveLength(2);
    expect(answers.asked).toHaveLength(2);
  });

  it("forgets the answers of the search before", async () => {
    void startSearch({ words: "x", limit: 100 });
    void startSearch({ words: "xy", limit: 100 });
    await answers.give(9, 30, "p1", 50);
    expect(useSearch.getState().rows).toHaveLength(0);
    await answers.give(1, 50, undefined, 50);
    expect(useSearch.getState()).toMatchObject({ state: "done", searched: 50 });
    expect(useSearch.getState().rows).toHaveLength(1);
  });

  it("says what went wrong", async () => {
    void startSearch({ words: "x", limit: 100 });
    await answers.fail();
    expect(useSearch.getState().state).toBe("stopped");
    expect(useSearch.getState().problem?.message).toContain("gone");
  });
});
