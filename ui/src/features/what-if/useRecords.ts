/** Settings of the open document's nodes, as they are now. */
import { useMemo } from "react";
import { doc, useIds } from "../../document/store";
import { type SettingOption, settingsOf } from "./draft";

export function useRecords(): readonly SettingOption[] {
  const nodes = useIds("node");
  return useMemo(() => settingsOf(nodes.map((name) => [name, doc.get(`node:${name}`)] as const)), [nodes]);
}
