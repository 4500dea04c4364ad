/** Help in the window: every shortcut (`?`), and what the selected node does with each of its settings (F1). */
import { Keyboard, Search } from "lucide-react";
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { InlineCode } from "../../components/InlineCode";
import { Kbd } from "../../components/Kbd";
import { fuzzyFilter } from "../../components/fuzzy";
import { labelOf } from "../../components/schema-form/labels";
import type { Schema } from "../../components/schema-form/schema";
import { TextField } from "../../components/TextField";
import { doc } from "../../document/store";
import { nodeOf } from "../../document/types";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { registerCommands, useCommands } from "../../state/commands";
import { keysOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { showSettings } from "../../state/settings";

const useHelp = create<{ readonly page: "shortcuts" | "node" | null }>(() => ({ page: null }));
const close = () => useHelp.setState({ page: null });

/** The kind of the one node that is selected. */
function selectedKind(): NodeKind | undefined {
  const { selection, appInfo } = useSession.getState();
  const [name, ...others] = selection.nodes;
  if (name === undefined || others.length > 0) return undefined;
  const { kind } = nodeOf(doc.get(`node:${name}`));
  return appInfo?.kinds.find((each) => each.kind === kind);
}

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
        run: () => useHelp.setState({ page: selectedKind() === undefined ? "shortcuts" : "node" }),
      },
    ]);
  }, []);
  if (page === null) return null;
  const kind = page === "node" ? selectedKind() : undefined;
  return kind === undefined ? <Shortcuts /> : <KindPage kind={kind} />;
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
                  <li key={row.id} className="flex items-center justify-between gap-3 min-h-6.5 text-xs">
                    <span className="min-w-0 truncate" title={row.title}>
                      {row.title}
                    </span>
                    <span className="flex gap-2 shrink-0">
                      {row.keys.map((keys) => (
                        <Kbd key={keys} keys={keys} />
                      ))}
                    </span>
                  </li>
                ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  );
}

function KindPage({ kind }: { kind: NodeKind }) {
  const schema = kind.configSchema as Schema;
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
    typeof property === "boolean" ? [] : [[name, property] as const],
  );
  return (
    <Dialog
      open
      size="large"
      title={kind.title}
      description={kind.summary}
      onClose={close}
      data-testid={formsIds.help}
    >
      {kind.aliases.length > 0 && (
        <p className="flex flex-wrap items-center gap-1 pb-3 text-xs text-text-2">
          {t("forms.help.aliases")}
          {kind.aliases.map((alias) => (
            <Badge key={alias}>{alias}</Badge>
          ))}
        </p>
      )}
      <dl className="flex flex-col gap-2.5 text-xs/4.5">
        {fields.map(([name, property]) => (
          <div key={name} className="grid grid-cols-[minmax(0,10rem)_minmax(0,1fr)] gap-3">
            <dt className="font-medium">
              {labelOf(name, property)}
              <div className="font-mono text-2xs text-text-3">{name}</div>
            </dt>
            <dd className="text-text-2 wrap-anywhere">
              <InlineCode text={property.description ?? ""} />
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
