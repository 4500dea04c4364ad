/** What an expression gave at a moment, in a cell. */
import { plain } from "../../debugger/parts/format";
import type { Evaluated } from "../../ipc/bindings/Evaluated";
import { t } from "../../lib/texts";

export function Value({ result }: { result: Evaluated | undefined }) {
  if (result?.message !== undefined)
    return (
      <span className="block truncate text-2xs text-text-3" title={result.message}>
        {t("query.column.unknown")}
      </span>
    );
  const text = plain(result?.value?.value ?? result?.value?.head ?? null, 100);
  return (
    <code className="block truncate font-mono text-2xs" title={text}>
      {text}
    </code>
  );
}
