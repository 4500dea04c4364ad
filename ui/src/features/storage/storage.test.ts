/** Addresses of databases, names of files, and the picture of what a thread takes. */
import { describe, expect, it } from "vitest";
import { fileNameOf } from "../../debugger/run/thread-files";
import { exampleOf, urlOf } from "./DatabaseTab";
import { areaOf } from "./growth-chart";
import { byOwner } from "./key-sizes";

describe("storage", () => {
  it("makes addresses of what is typed", () => {
    const sqlite = { kind: "sqlite", location: "file", example: "sqlite:threads.db" } as const;
    const folder = { kind: "file", location: "folder", example: "file:threads" } as const;
    const server = { kind: "postgres", location: "server", example: "postgres://me@localhost/db" } as const;
    const memory = { kind: "memory", location: "process", example: "memory:" } as const;
    expect(urlOf(sqlite, " threads.db ")).toBe("sqlite:threads.db");
    expect(urlOf(folder, "/backup")).toBe("file:/backup");
    expect(urlOf(sqlite, "threads.db", false)).toBe("sqlite:threads.db?synchronous=normal");
    expect(urlOf(server, "postgres://me@host/db", false)).toBe("postgres://me@host/db");
    expect(urlOf(memory, "ignored")).toBe("memory:");
    expect([sqlite, folder, server].map(exampleOf)).toEqual([
      "threads.db",
      "threads",
      "postgres://me@localhost/db",
    ]);
  });

  it("draws growth from the left bottom to the right top", () => {
    const { line, path } = areaOf([0, 50, 100]);
    expect(line).toBe("M0 30L50 15.5L100 1");
    expect(path).toBe(`${line}L100 30L0 30Z`);
    expect(areaOf([0, 0]).line).toBe("M0 30L100 30");
  });

  it("reports the graph's keys from the engine's", () => {
    const keys = ["count", "branch:to:a", "__start__", "of_a"].map((key) => ({ key }));
    expect(byOwner(keys)).toEqual({ own: [keys[0], keys[3]], engine: [keys[1], keys[2]] });
  });

  it("names files after threads", () => {
    expect(fileNameOf('Refund: "A/B"\n twice')).toBe("Refund A B twice.jsonl");
    expect(fileNameOf("The end. ")).toBe("The end.jsonl");
    expect(fileNameOf("///")).toBe("thread.jsonl");
  });
});
