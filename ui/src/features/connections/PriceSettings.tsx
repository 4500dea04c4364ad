/** Settings: what models cost. Prices of one's own go before those that come with Superstep. */
import { Pencil, Plus, Trash2 } from "lucide-react";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { hintClass } from "../../components/recipes";
import { Spinner } from "../../components/Spinner";
import { useAnswer } from "../../debugger/model/useAnswer";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import type { ModelPrice } from "../../ipc/bindings/ModelPrice";
import { rpc } from "../../ipc/client";
import { day, number } from "../../lib/intl";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { askPrice, pricesChanged, usePriceChanges } from "../../state/prices";
import { showProblem, showToast } from "../../state/toasts";

export function PriceSettings() {
  const changes = usePriceChanges();
  const read = useAnswer(`prices ${changes}`, (signal) => rpc("prices.list", {}, signal), true);
  if (read.problem) return <ProblemNote problem={read.problem} onRetry={read.again} />;
  if (!read.value) return <Spinner label={t("trust.loading")} />;
  const { own, listed, taken } = read.value;
  const remove = async (price: ModelPrice) => {
    try {
      await rpc("prices.remove", { model: price.model });
      pricesChanged();
      const back = () => void rpc("prices.set", price).then(pricesChanged, showProblem);
      showToast({
        tone: "done",
        text: t("prices.removed", { model: price.model }),
        action: { label: t("prices.undo"), run: back },
      });
    } catch (problem) {
      showProblem(problem);
    }
  };
  return (
    <section className="mt-4 flex flex-col gap-2.5 border-t border-line pt-3" data-testid={safetyIds.prices}>
      <h3 className="text-sm font-semibold">{t("prices.heading")}</h3>
      <p className={hintClass}>{t("prices.text")}</p>
      {own.length > 0 && <Prices prices={own} onRemove={(price) => void remove(price)} />}
      <Button
        className="self-start"
        icon={<Plus size={14} aria-hidden />}
        onClick={() => askPrice([])}
        data-testid={safetyIds.priceAdd}
      >
        {t("prices.add")}
      </Button>
      <div>
        <Fold
          small
          head={t("prices.listed", { n: listed.length, day: day(taken) })}
          data-testid={safetyIds.pricesListed}
        >
          {() => <Prices prices={listed} />}
        </Fold>
      </div>
    </section>
  );
}

const dollars = (price: number | undefined): string =>
  price === undefined ? "" : number(price, { maximumFractionDigits: 6 });

interface PricesProps {
  prices: readonly ModelPrice[];
  /** Of prices of one's own, which can be changed. */
  onRemove?: (price: ModelPrice) => void;
}

function Prices({ prices, onRemove }: PricesProps) {
  return (
    <table className="w-full text-xs tabular-nums [&_:is(th,td)]:px-1.5 [&_:is(th,td)]:py-0.5 [&_:is(th,td)]:text-right [&_:is(th,td):first-child]:text-left">
      <thead className="text-2xs text-text-3 [&_th]:font-medium">
        <tr>
          <th>{t("prices.model")}</th>
          <th>{t("prices.input")}</th>
          <th>{t("prices.output")}</th>
          <th>{t("prices.cached")}</th>
          {onRemove && <th className="w-16" />}
        </tr>
      </thead>
      <tbody>
        {prices.map((price) => (
          <tr key={price.model} data-testid={safetyIds.priceRow(price.model)}>
            <td className={cx("wrap-anywhere", onRemove && "font-semibold")}>{price.model}</td>
            <td>{dollars(price.input)}</td>
            <td>{dollars(price.output)}</td>
            <td>{dollars(price.cached)}</td>
            {onRemove && (
              <td>
                <span className="inline-flex">
                  <IconButton
                    size="small"
                    label={t("prices.edit", { model: price.model })}
                    onClick={() => askPrice([], price)}
                  >
                    <Pencil size={14} />
                  </IconButton>
                  <IconButton
                    size="small"
                    label={t("prices.remove", { model: price.model })}
                    onClick={() => onRemove(price)}
                  >
                    <Trash2 size={14} />
                  </IconButton>
                </span>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
