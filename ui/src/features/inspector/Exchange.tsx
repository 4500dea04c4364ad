/** What two nodes give each other through the state. */
import { ArrowRight } from "lucide-react";
import { useMemo } from "react";
import { doc, useDocumentVersion } from "../../document/store";
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { formsIds } from "../../lib/testIds";
import { useSession } from "../../state/session";
import { sectionClass, sectionTitleClass } from "../../components/recipes";
import { exchanged, usageOf } from "../../document/usage";

export function Exchange({ nodes: [one, other] }: { nodes: readonly [string, string] }) {
  const kinds = useSession((state) => state.appInfo?.kinds);
  const version = useDocumentVersion();
  const usage = useMemo(() => {
    void version;
    return usageOf(doc, kinds ?? []);
  }, [version, kinds]);
  const ways = [
    [one, other],
    [other, one],
  ] as const;
  const found = ways.map(([from, to]) => ({ from, to, keys: exchanged(usage, from, to) }));
  return (
    <section className={sectionClass} data-testid={formsIds.exchange}>
      <h3 className={sectionTitleClass}>{t("forms.many.exchange")}</h3>
      {found.every(({ keys }) => keys.length === 0) && (
        <p className="text-xs text-text-3">{t("forms.many.exchangeNone")}</p>
      )}
      {found
        .filter(({ keys }) => keys.length > 0)
        .map(({ from, to, keys }) => (
          <div key={from} className="flex flex-col gap-1 text-xs">
            <span className="flex items-center gap-1.5 font-medium">
              {from}
              <ArrowRight size={12} className="text-text-3" aria-hidden />
              {to}
            </span>
            <span className="font-mono text-text-2 wrap-anywhere">{listed(keys)}</span>
          </div>
        ))}
    </section>
  );
}
