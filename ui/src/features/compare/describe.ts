/** Steps of a path in words. Pure. */
import { nodeName } from "../../debugger/parts/format";
import type { PathStep } from "../../ipc/bindings/PathStep";
import { listed } from "../../lib/intl";
import { t, type TextKey } from "../../lib/texts";

const SOURCE: Record<string, TextKey> = {
  input: "debug.source.input",
  update: "debug.source.update",
  fork: "debug.source.fork",
};

export function describeStep({ source, nodes }: PathStep): string {
  const names = nodes.map(({ node, runs }) => (runs > 1 ? `${nodeName(node)} ×${runs}` : nodeName(node)));
  if (source === "update" && nodes[0]) return t("debug.editedAs", { node: nodeName(nodes[0].node) });
  return names.length > 0 ? listed(names) : t(SOURCE[source] ?? "debug.source.loop");
}
