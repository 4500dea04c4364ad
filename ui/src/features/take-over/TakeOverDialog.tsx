/** Says which program runs a thread, and offers to take the thread over. */
import { ConfirmDialog } from "../../components/Dialog";
import { t } from "../../lib/texts";
import { decideTakeOver, useTakeOverAsked } from "../../state/take-over";

export function TakeOverDialog() {
  const busy = useTakeOverAsked((asked) => asked.busy);
  return (
    <ConfirmDialog
      open={busy !== null}
      title={t("debug.takeOver.title")}
      text={
        <>
          <p>{busy?.message}</p>
          {busy?.remedy !== undefined && <p>{busy.remedy}</p>}
          <p>{t("debug.takeOver.text")}</p>
        </>
      }
      confirm={t("debug.takeOver.confirm")}
      onConfirm={() => decideTakeOver(true)}
      onCancel={() => decideTakeOver(false)}
    />
  );
}
