/** What a disabled node means for runs, and where they go on from one that routes. */
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Select } from "../../components/Select";
import { toggleEverywhere } from "../../canvas/records";
import { disabledOf, setWayOut, waysOut } from "../../document/disabled";
import { doc, useDiagnostics, useDocumentState, useDocumentVersion } from "../../document/store";
import { edit } from "../../document/edit";
import { listed } from "../../lib/intl";
import { structureIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { nodeText } from "./describe";

export function DisabledNotice({ name }: { name: string }) {
  useDocumentVersion();
  const leads = useDocumentState((state) => state.leads);
  const problems = useDiagnostics(`node:${name}`).filter(({ pointer }) => pointer === "/disabled/way");
  const ways = waysOut(doc, name, leads[name]);
  const way = disabledOf(doc.get(`node:${name}`))?.way ?? undefined;
  return (
    <div
      className="grid gap-2 rounded-md border border-dashed border-line-field p-2.5 text-xs text-text-2"
      data-testid={structureIds.disabledNotice}
    >
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1">{t("disabled.help")}</p>
        <Button size="small" onClick={() => toggleEverywhere([name])}>
          {t("disabled.enable")}
        </Button>
      </div>
      {ways.length > 0 && (
        <Field label={t("disabled.way")} pointer="/disabled/way" error={problems}>
          <Select
            size="small"
            value={way}
            placeholder={t("disabled.chooseWay")}
            aria-label={t("disabled.way")}
            data-testid={structureIds.disabledWay}
            options={ways.map(({ to, labels }) => ({
              value: to,
              label:
                labels.length === 0
                  ? nodeText(to)
                  : t("disabled.wayTo", { label: listed(labels), to: nodeText(to) }),
            }))}
            onChange={(to) =>
              edit(t("disabled.edit.way", { name }), (document) => setWayOut(document, name, to))
            }
          />
        </Field>
      )}
    </div>
  );
}
