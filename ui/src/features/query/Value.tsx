/** What an expression gave at a moment, in a cell. */
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { t } from "../../lib/texts";
import { valueOf } from "./report";

export function Value({ result }: { result: Evaluated | undefined }) {
  if (result?.message !== undefined)
    return (
      <span className="block truncate text-2xs text-text-3" title={result.message}>
        {t("query.column.unknown")}
      </span>
    );
  const text = valueOf(result);
  return (
    <code className="block truncate font-mono text-2xs" title={text}>
      {text}
    </code>
  );
}
