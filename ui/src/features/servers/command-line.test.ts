import { describe, expect, it } from "vitest";
import { commandLine, suggestedName, typedServer } from "./command-line";

describe("a server that is typed", () => {
  it("is an address or a program with its arguments", () => {
    expect(typedServer(" https://example.org/mcp ")).toEqual({ url: "https://example.org/mcp" });
    expect(typedServer("npx -y @scope/server-files  /tmp")).toEqual({
      command: "npx",
      args: ["-y", "@scope/server-files", "/tmp"],
    });
    expect(typedServer('"/opt/my tools/run" --name "a \\"b\\"" \'\'')).toEqual({
      command: "/opt/my tools/run",
      args: ["--name", 'a "b"', ""],
    });
    expect(typedServer("C:\\tools\\run.exe x")).toEqual({ command: "C:\\tools\\run.exe", args: ["x"] });
    expect(typedServer("   ")).toBeNull();
    expect(typedServer('""')).toBeNull();
  });

  it("is written as a line that reads back as the same words", () => {
    for (const words of [
      ["npx", "-y", "@scope/x"],
      ["/opt/my tools/run", 'a "b"', "", "it's", "C:\\x\\"],
    ]) {
      const [command = "", ...args] = words;
      expect(typedServer(commandLine(command, args))).toEqual({ command, args });
    }
    expect(commandLine("npx", ["-y", "server"])).toBe("npx -y server");
  });

  it("has a name to begin with", () => {
    expect(suggestedName(typedServer("npx -y @scope/server-files /tmp"))).toBe("files");
    expect(suggestedName(typedServer("python3 tools/notes.py"))).toBe("notes");
    expect(suggestedName(typedServer("https://mcp.example.org/x"))).toBe("example");
    expect(suggestedName(null)).toBe("");
  });
});
