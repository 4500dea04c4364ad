// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import {
  followMoments,
  goMoment,
  gone,
  linkTo,
  momentOf,
  NO_MOMENTS,
  restoreMoment,
  useMoments,
  visited,
} from "./moment-history";
import { useSession } from "./session";

const at = (checkpointId: string | null, threadId: string | null = "t") => ({ threadId, checkpointId });
const ids = (moments: readonly { checkpointId: string | null }[]) => moments.map((one) => one.checkpointId);

describe("the history of moments", () => {
  it("goes back and forth, and forgets what comes after when it goes elsewhere", () => {
    let moments = visited(NO_MOMENTS, at("a"), 1000);
    moments = visited(moments, at("b"), 2000);
    moments = visited(moments, at("b"), 2500);
    moments = visited(moments, at("c"), 3000);
    expect(ids(moments.back)).toEqual(["a", "b"]);
    const once = gone(moments, -1);
    expect(once?.current?.checkpointId).toBe("b");
    const twice = once && gone(once, -1);
    expect([twice?.current?.checkpointId, ids(twice?.forth ?? [])]).toEqual(["a", ["c", "b"]]);
    expect(twice && gone(twice, -1)).toBeUndefined();
    expect(twice && gone(twice, 1)?.current?.checkpointId).toBe("b");
    const elsewhere = once && visited(once, at("x"), 9000);
    expect([ids(elsewhere?.back ?? []), elsewhere?.forth]).toEqual([["a", "b"], []]);
  });

  it("is one way while a key is held, and never leads to no thread", () => {
    let moments = visited(NO_MOMENTS, at("start"), 0);
    for (let step = 0; step < 100; step += 1) moments = visited(moments, at(`c${step}`), 5000 + step * 16);
    expect(ids(moments.back)).toEqual(["start"]);
    moments = visited(moments, at(null, null), 20_000);
    moments = visited(moments, at("y", "other"), 20_010);
    expect(ids(moments.back)).toEqual(["start", "c99"]);
    for (let step = 0; step < 500; step += 1)
      moments = visited(moments, at(`d${step}`), 30_000 + step * 1000);
    expect(moments.back).toHaveLength(200);
  });
});

describe("links", () => {
  it("name a thread, a checkpoint and a task", () => {
    const moment = { threadId: "a thread/1", checkpointId: "c 1", taskId: "x" };
    const link = linkTo(moment) ?? "";
    expect(link).toBe("superstep://thread/a%20thread%2F1?at=c+1&task=x");
    expect(momentOf(link)).toEqual(moment);
    expect(momentOf(linkTo(at(null)) ?? "")).toEqual(at(null));
    expect(momentOf("http://127.0.0.1:8080/#thread/t?at=c")).toEqual(at("c"));
    expect(momentOf("#thread/t")).toEqual(at(null));
  });

  it("are nothing else", () => {
    expect(linkTo(at(null, null))).toBeNull();
    for (const text of [
      "",
      "thread/t",
      "superstep://graph/t",
      "superstep://thread/",
      "#token=x",
      "superstep://thread/%E0%A4%A",
    ])
      expect(momentOf(text)).toBeNull();
  });
});

describe("the moments of the session", () => {
  beforeEach(() => {
    useMoments.setState(NO_MOMENTS);
    sessionStorage.clear();
    useSession.setState({ graphId: "g", graphKey: "/g.json", use: "debug", cursor: at(null, null) });
  });

  it("are followed and gone back to, with their task", () => {
    let now = 0;
    const leave = followMoments(() => (now += 1000));
    const { setCursor } = useSession.getState();
    setCursor({ threadId: "t", checkpointId: "a", taskId: "x" });
    setCursor({ checkpointId: "b" });
    expect(useSession.getState().cursor).toEqual(at("b"));
    expect(goMoment(-1)).toBe(true);
    expect(useSession.getState().cursor).toEqual({ ...at("a"), taskId: "x" });
    expect(goMoment(-1)).toBe(false);
    expect(goMoment(1)).toBe(true);
    expect(useSession.getState().cursor).toEqual(at("b"));
    leave();
  });

  it("are found again by a window that was reloaded, on the same graph alone", () => {
    const leave = followMoments();
    useSession.getState().setCursor({ threadId: "t", checkpointId: "a" });
    leave();
    // The window is loaded again.
    const opened = (path: string) => {
      useSession.setState({
        graphId: null,
        graphKey: null,
        use: "design",
        cursor: useSession.getInitialState().cursor,
      });
      const leaveAgain = followMoments();
      useSession.getState().graphOpened("g2", path, false);
      restoreMoment();
      leaveAgain();
    };
    opened("/other.json");
    expect(useSession.getState().cursor.threadId).toBeNull();
    opened("/g.json");
    expect([useSession.getState().cursor, useSession.getState().use]).toEqual([at("a"), "debug"]);
  });
});
