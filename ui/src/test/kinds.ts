/** The node kinds as `crates/nodes` describes them, without their settings: read from the source, for tests of searches. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { NodeKind } from "../ipc/bindings/NodeKind";

const FOLDER = resolve(import.meta.dirname, "../../../crates/nodes/src/kinds");

const texts = (list: string) => [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text ?? "");

export function describedKinds(): NodeKind[] {
  const sources = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".rs"))
    .map((file) => readFileSync(join(FOLDER, file), "utf8"));
  return sources.flatMap((source) => {
    const info =
      /KindInfo \{\s+kind: [^,]+,\s+title: "(\w+)",\s+summary: "([^"]+)",\s+icon: "([^"]+)",\s+group: "(\w+)",\s+aliases: &\[([^\]]*)\]/.exec(
        source,
      );
    if (!info) return [];
    const [, title = "", summary = "", icon = "", group = "", aliases = ""] = info;
    return [
      {
        kind: title.toLowerCase(),
        title,
        summary,
        icon,
        group,
        aliases: texts(aliases),
        configSchema: {},
        defaults: {},
        card: [],
        inside: false,
      },
    ];
  });
}
