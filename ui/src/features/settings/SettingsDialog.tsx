/** Colours, following, where things are kept, and what this is. Every change counts at once. */
import { Check, Copy, Monitor, Moon, Sun } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { Switch } from "../../components/Switch";
import { Tabs } from "../../components/Tabs";
import { TextField } from "../../components/TextField";
import type { Language } from "../../ipc/bindings/Language";
import type { Theme } from "../../ipc/bindings/Theme";
import { formsIds, queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { canScale, SCALES, scaleText, setScale, useScale } from "../../state/scale";
import { useSession } from "../../state/session";
import { showSettings, useSettingsAsked, type SettingsTab } from "../../state/settings";
import { showStorage } from "../../state/storage";
import { ConnectionSettings } from "../connections";
import { SecretSettings } from "../secrets";
import { TrustSettings } from "../trust";
import { MemorySettings } from "../memory";
import { KeyboardSettings } from "./KeyboardSettings";
import { Notices } from "./Notices";
import { CanvasSettings } from "./CanvasSettings";
import { PythonSettings } from "./PythonSettings";
import { hintClass, settingsPartClass, settingsRowClass } from "../../components/recipes";

const TABS: readonly SettingsTab[] = ["general", "keyboard", "connections", "secrets", "storage", "trust"];
const THEMES: Theme[] = ["system", "light", "dark"];
const LANGUAGES: Language[] = ["system", "en", "zh"];
const ICONS = { system: Monitor, light: Sun, dark: Moon };

export function SettingsDialog() {
  const tab = useSettingsAsked((asked) => asked.tab);

  useEffect(
    () =>
      registerCommands([
        {
          id: "settings.open",
          title: t("forms.settings.open"),
          group: t("forms.settings.group"),
          run: () => showSettings(),
        },
        {
          id: "settings.keyboard",
          title: t("keyboard.open"),
          group: t("forms.settings.group"),
          run: () => showSettings("keyboard"),
        },
        {
          id: "settings.connections",
          title: t("connections.open"),
          group: t("forms.settings.group"),
          run: () => showSettings("connections"),
        },
        {
          id: "settings.secrets",
          title: t("settings.tab.secrets"),
          group: t("forms.settings.group"),
          run: () => showSettings("secrets"),
        },
        {
          id: "settings.storage",
          title: t("memory.settings.command"),
          group: t("forms.settings.group"),
          run: () => showSettings("storage"),
        },
        {
          id: "settings.trust",
          title: t("settings.tab.trust"),
          group: t("forms.settings.group"),
          run: () => showSettings("trust"),
        },
        {
          id: "settings.theme",
          title: t("forms.settings.themeNext"),
          group: t("forms.settings.group"),
          run: () => {
            const dark = document.documentElement.dataset["theme"] === "dark";
            useSession.getState().setSettings({ theme: dark ? "light" : "dark" });
          },
        },
      ]),
    [],
  );

  const close = () => useSettingsAsked.setState({ tab: null });
  return (
    <Dialog
      open={tab !== null}
      onClose={close}
      title={t("forms.settings.title")}
      size="medium"
      data-testid={formsIds.settings}
    >
      <Tabs
        label={t("forms.settings.title")}
        value={tab ?? "general"}
        onChange={(next) => showSettings(next as SettingsTab)}
        tabs={TABS.map((id) => ({ id, label: t(`settings.tab.${id}`) }))}
      />
      <div className="h-[min(600px,calc(100vh-180px))] -mx-5 pt-2.5 px-5 overflow-y-auto">
        {tab === "general" && <General />}
        {tab === "keyboard" && <KeyboardSettings />}
        {tab === "connections" && <ConnectionSettings />}
        {tab === "secrets" && <SecretSettings />}
        {tab === "storage" && <Storage close={close} />}
        {tab === "trust" && <TrustSettings />}
      </div>
    </Dialog>
  );
}

function General() {
  const appInfo = useSession((state) => state.appInfo);
  const theme = useSession((state) => state.theme);
  const language = useSession((state) => state.language);
  const follow = useSession((state) => state.follow);
  const setSettings = useSession((state) => state.setSettings);
  // Each language has its name in its own letters, which a computer need not have.
  useEffect(() => void import("../../lib/texts/zh/font"), []);
  return (
    <>
      <section className={settingsPartClass}>
        <h3>{t("forms.settings.appearance")}</h3>
        <div className={settingsRowClass}>
          <span>{t("forms.settings.theme")}</span>
          <Tabs
            look="segmented"
            label={t("forms.settings.theme")}
            value={theme}
            onChange={(next) => setSettings({ theme: next as Theme })}
            tabs={THEMES.map((id) => {
              const Icon = ICONS[id];
              return { id, label: t(`forms.settings.theme.${id}`), icon: <Icon size={13} aria-hidden /> };
            })}
          />
        </div>
        <div className={settingsRowClass}>
          <span>{t("language.label")}</span>
          <Tabs
            look="segmented"
            label={t("language.label")}
            value={language}
            onChange={(next) => setSettings({ language: next as Language })}
            tabs={LANGUAGES.map((id) => ({ id, label: t(`language.${id}`) }))}
          />
        </div>
        {canScale() && <InterfaceScale />}
        <Field
          label={t("forms.settings.follow")}
          description={t("forms.settings.followHelp")}
          layout="switch"
        >
          <Switch checked={follow} onChange={(next) => setSettings({ follow: next })} />
        </Field>
        <PersonName />
        <AnswerHold />
      </section>
      <CanvasSettings />
      <PythonSettings />
      {appInfo !== null && (
        <section className={settingsPartClass}>
          <h3>{t("forms.settings.places")}</h3>
          <Place
            title={t("forms.settings.data")}
            path={appInfo.dataDir}
            help={t("forms.settings.dataHelp")}
          />
          <Place
            title={t("forms.settings.graphs")}
            path={appInfo.graphsDir}
            help={t("forms.settings.graphsHelp")}
          />
        </section>
      )}
      <section className={settingsPartClass}>
        <h3>{t("forms.settings.about")}</h3>
        <p className="select-text">{t("forms.settings.version", { version: appInfo?.version ?? "" })}</p>
        <p className={hintClass}>{t("forms.settings.licence")}</p>
        <p className={hintClass}>{t("forms.settings.fonts")}</p>
        <Notices />
      </section>
    </>
  );
}

function Storage({ close }: { close(): void }) {
  const indexThreads = useSession((state) => state.appInfo?.settings.indexThreads ?? true);
  const setSettings = useSession((state) => state.setSettings);
  return (
    <>
      <section className={settingsPartClass}>
        <h3>{t("storage.title")}</h3>
        <div className={settingsRowClass}>
          <p className={hintClass}>{t("storage.settings")}</p>
          <Button
            size="small"
            onClick={() => {
              close();
              showStorage("database");
            }}
          >
            {t("storage.settings.open")}
          </Button>
        </div>
        <Field label={t("query.index")} description={t("query.indexText")} layout="switch">
          <Switch
            checked={indexThreads}
            onChange={(next) => setSettings({ indexThreads: next })}
            data-testid={queryIds.indexSwitch}
          />
        </Field>
      </section>
      <MemorySettings />
    </>
  );
}

/** For the window of the app alone: a browser has its own. */
function InterfaceScale() {
  const scale = useScale((state) => state.scale);
  return (
    <>
      <div className={settingsRowClass}>
        <span>{t("forms.settings.scale")}</span>
        <Select
          className="w-28!"
          size="small"
          aria-label={t("forms.settings.scale")}
          value={scale}
          options={SCALES.map((value) => ({ value, label: scaleText(value) }))}
          onChange={setScale}
          data-testid={formsIds.settingsScale}
        />
      </div>
      <p className={hintClass}>{t("forms.settings.scaleHelp")}</p>
    </>
  );
}

/** Kept when the field is left, not with every letter. */
function PersonName() {
  const name = useSession((state) => state.appInfo?.settings.name ?? "");
  const setSettings = useSession((state) => state.setSettings);
  const [draft, setDraft] = useState(name);
  const keep = () => {
    if (draft.trim() !== name) setSettings({ name: draft.trim() });
  };
  return (
    <Field label={t("forms.settings.name")} description={t("forms.settings.nameHelp")}>
      <TextField
        value={draft}
        onChange={setDraft}
        onCommit={keep}
        onBlur={keep}
        data-testid={formsIds.settingsName}
      />
    </Field>
  );
}

/** Seconds in which an answer can be taken back, where nobody has said. */
const HOLD_S = 5;

function AnswerHold() {
  const hold = useSession((state) => state.appInfo?.settings.holdS ?? HOLD_S);
  const setSettings = useSession((state) => state.setSettings);
  return (
    <Field label={t("forms.settings.hold")} description={t("forms.settings.holdHelp")}>
      <NumberField
        value={hold}
        integer
        min={0}
        max={3600}
        onChange={(value) => {
          if (value !== undefined && value >= 0 && value <= 3600) setSettings({ holdS: value });
        }}
        data-testid={formsIds.settingsHold}
      />
    </Field>
  );
}

function Place({ title, path, help }: { title: string; path: string; help: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div>
      <div className={settingsRowClass}>
        <span>{title}</span>
        <code className="flex-1 min-w-0 text-right wrap-anywhere text-text-2 select-text">{path}</code>
        <IconButton
          size="small"
          label={copied ? t("forms.settings.copied") : t("forms.settings.copy")}
          onClick={() => {
            void navigator.clipboard.writeText(path).then(
              () => {
                setCopied(true);
                setTimeout(() => setCopied(false), 1500);
              },
              () => {
                // The path can still be selected and copied by hand.
              },
            );
          }}
        >
          {copied ? <Check size={13} /> : <Copy size={13} />}
        </IconButton>
      </div>
      <p className={hintClass}>{help}</p>
    </div>
  );
}
