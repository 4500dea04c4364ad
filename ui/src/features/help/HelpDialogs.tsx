/** Help in the window: every shortcut (`?`), and what is selected (F1). */
import { Check, Keyboard, Search } from "lucide-react";
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { InlineCode } from "../../components/InlineCode";
import { Kbd, shortcutKeys } from "../../components/Kbd";
import { fuzzyFilter } from "../../components/fuzzy";
import { cx } from "../../components/cx";
import { TextField } from "../../components/TextField";
import { doc } from "../../document/store";
import { listed } from "../../lib/intl";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands, useCommands } from "../../state/commands";
import { keysOf, shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { showSettings } from "../../state/settings";
import { helpOf, type HelpPage, type HelpRow } from "./pages";

const useHelp = create<{ readonly page: "shortcuts" | "selected" | null }>(() => ({ page: null }));
const close = () => useHelp.setState({ page: null });

export function HelpDialogs() {
  const page = useHelp((help) => help.page);
  useEffect(() => {
    const group = t("forms.help.group");
    return registerCommands([
      {
        id: "help.shortcuts",
        title: t("forms.help.shortcuts"),
        group,
        run: () => useHelp.setState({ page: "shortcuts" }),
      },
      {
        id: "help.selected",
        title: t("forms.help.selected"),
        group,
        run: () => useHelp.setState({ page: "selected" }),
      },
    ]);
  }, []);
  if (page === null) return null;
  return page === "shortcuts" ? <Shortcuts /> : <OfSelection />;
}

function OfSelection() {
  const selection = useSession((state) => state.selection);
  const kinds = useSession((state) => state.appInfo?.kinds) ?? [];
  return <Page page={helpOf(doc, selection, kinds, shortcutKeys(shortcutOf("help.selected")).join("+"))} />;
}

function Shortcuts() {
  const [query, setQuery] = useState("");
  const rows = useCommands().flatMap(({ id, title, group }) => {
    const keys = keysOf(id);
    return keys.length === 0 ? [] : [{ id, title, group, keys }];
  });
  rows.push({
    id: "large",
    title: t("forms.help.enlarge"),
    group: t("forms.help.fields"),
    keys: ["Mod+Enter"],
  });
  const found = fuzzyFilter(rows, query, (row) => [row.title, row.group, row.keys.join(" ")]);
  const groups = [...new Set(found.map((row) => row.group))];
  return (
    <Dialog open size="large" title={t("forms.help.shortcuts")} onClose={close} data-testid={formsIds.help}>
      <div className="flex items-center gap-2">
        <TextField
          className="min-w-0 flex-1"
          prefix={<Search size={14} aria-hidden />}
          aria-label={t("forms.help.search")}
          placeholder={t("forms.help.search")}
          value={query}
          onChange={setQuery}
        />
        <Button
          size="small"
          icon={<Keyboard size={14} aria-hidden />}
          onClick={() => {
            close();
            showSettings("keyboard");
          }}
        >
          {t("keyboard.open")}
        </Button>
      </div>
      <div className="columns-1 min-[760px]:columns-2 gap-8 pt-3">
        {found.length === 0 && <p className="text-xs text-text-2">{t("forms.command.none")}</p>}
        {groups.map((group) => (
          <section key={group} className="break-inside-avoid pb-4">
            <h3 className="pb-1 text-xs font-semibold text-text-2">{group}</h3>
            <ul>
              {found
                .filter((row) => row.group === group)
                .map((row) => (
                  <KeysRow key={row.id} title={row.title} keys={row.keys} />
                ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function KeysRow({ title, keys }: { title: string; keys: readonly string[] }) {
  return (
    <li className="flex items-center justify-between gap-3 min-h-6.5 text-xs">
      <span className="min-w-0 truncate" title={title}>
        {title}
      </span>
      <span className="flex gap-2 shrink-0">
        {keys.map((each) => (
          <Kbd key={each} keys={each} />
        ))}
      </span>
    </li>
  );
}

function Page({ page }: { page: HelpPage }) {
  const commands = useCommands();
  return (
    <Dialog
      open
      size="large"
      title={page.title}
      description={page.text}
      onClose={close}
      data-testid={formsIds.help}
    >
      {page.aliases !== undefined && page.aliases.length > 0 && (
        <p className="flex flex-wrap items-center gap-1 pb-3 text-xs text-text-2">
          {t("forms.help.aliases")}
          {page.aliases.map((alias) => (
            <Badge key={alias}>{alias}</Badge>
          ))}
        </p>
      )}
      <LangGraph words={page.words} className="pb-3" />
      {page.sections.map((section, index) => (
        <section key={section.title ?? index} className="pb-4">
          {section.title !== undefined && (
            <h3 className="pb-1.5 text-xs font-semibold text-text-2">{section.title}</h3>
          )}
          {section.rows !== undefined && (
            <dl className="flex flex-col gap-2.5 text-xs/4.5">
              {section.rows.map((row) => (
                <Row key={row.code ?? row.term} row={row} />
              ))}
            </dl>
          )}
          {section.commands !== undefined && (
            <ul className="grid grid-cols-1 gap-x-8 min-[760px]:grid-cols-2">
              {section.commands.flatMap((id) => {
                const command = commands.find((each) => each.id === id);
                return command === undefined
                  ? []
                  : [<KeysRow key={id} title={command.title} keys={keysOf(id)} />];
              })}
            </ul>
          )}
        </section>
      ))}
    </Dialog>
  );
}

function Row({ row }: { row: HelpRow }) {
  return (
    <div
      className="-mx-2 grid grid-cols-[minmax(0,10rem)_minmax(0,1fr)] gap-3 rounded-sm px-2 data-chosen:bg-accent-soft"
      data-chosen={row.chosen === true || undefined}
    >
      <dt className="font-medium">
        <span className="flex items-center gap-1">
          {row.chosen === true && <Check size={12} aria-label={t("help.chosen")} />}
          {row.term}
        </span>
        {row.code !== undefined && <div className="font-mono text-2xs text-text-3">{row.code}</div>}
      </dt>
      <dd className="text-text-2 wrap-anywhere">
        <InlineCode text={row.text} />
        <LangGraph words={row.words} />
      </dd>
    </div>
  );
}

/** What LangGraph calls it, marked as such. */
function LangGraph({ words, className }: { words: readonly string[] | undefined; className?: string }) {
  if (words === undefined || words.length === 0) return null;
  const names = listed(words.map((word) => `\`${word}\``));
  return (
    <p className={cx("text-2xs/4.5 text-text-3", className)}>
      <InlineCode text={t("help.langgraph", { words: names })} />
    </p>
  );
}
