/** What the canvas does under a person's hand. */
import { Tabs } from "../../components/Tabs";
import { hintClass, settingsPartClass, settingsRowClass } from "../../components/recipes";
import { number } from "../../lib/intl";
import { t } from "../../lib/texts";
import {
  DROP_ACTIONS,
  GRIDS,
  setCanvasSettings,
  useCanvasSettings,
  type DropAction,
} from "../../state/canvas-settings";

export function CanvasSettings() {
  const settings = useCanvasSettings();
  return (
    <section className={settingsPartClass}>
      <h3>{t("wires.settings")}</h3>
      {(["drop", "dropShift"] as const).map((name) => (
        <div key={name} className={settingsRowClass}>
          <span>{t(`wires.settings.${name}`)}</span>
          <Tabs
            look="segmented"
            label={t(`wires.settings.${name}`)}
            value={settings[name]}
            onChange={(next) => setCanvasSettings({ [name]: next as DropAction })}
            tabs={DROP_ACTIONS.map((id) => ({ id, label: t(`wires.settings.${id}`) }))}
          />
        </div>
      ))}
      <p className={hintClass}>{t("wires.settings.dropHelp")}</p>
      <div className={settingsRowClass}>
        <span>{t("wires.settings.grid")}</span>
        <Tabs
          look="segmented"
          label={t("wires.settings.grid")}
          value={String(settings.grid)}
          onChange={(next) => {
            const grid = GRIDS.find((each) => String(each) === next);
            if (grid !== undefined) setCanvasSettings({ grid });
          }}
          tabs={GRIDS.map((each) => ({
            id: String(each),
            label: each === 0 ? t("wires.settings.gridNone") : number(each),
          }))}
        />
      </div>
      <p className={hintClass}>{t("wires.settings.gridHelp")}</p>
    </section>
  );
}
