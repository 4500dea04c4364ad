/** What a graph wants, grouped, each with a box and the nodes that want it. */
import { Braces, Folder, Globe, KeyRound, Plug, Sparkles, Terminal, Variable } from "lucide-react";
import { Badge } from "../../components/Badge";
import { Checkbox } from "../../components/Checkbox";
import type { AccessView } from "../../ipc/bindings/AccessView";
import type { AccessWhat } from "../../ipc/bindings/AccessWhat";
import type { Want } from "../../ipc/bindings/Want";
import { listed } from "../../lib/intl";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { grouped, keyOf } from "./groups";
import { hintClass } from "../../components/recipes";

export const ICONS: Record<AccessWhat, typeof Globe> = {
  program: Terminal,
  mcp: Plug,
  folder: Folder,
  host: Globe,
  connection: Sparkles,
  variable: Variable,
  key: KeyRound,
};

/** What is asked for, as a person reads it. */
export function nameOf({ what, name }: AccessView): string {
  if (what === "host" && name === "*") return t("trust.any");
  const at = name.lastIndexOf("@");
  if (what !== "key" || at < 0) return name;
  const server = name.slice(at + 1);
  return t("trust.keyTo", { key: name.slice(0, at), server: server === "*" ? t("trust.any") : server });
}

function What({ what }: { what: AccessWhat }) {
  const Icon = ICONS[what] ?? Braces;
  return (
    <h3 className="flex items-center gap-1.5 text-xs/inherit font-semibold text-text-2">
      <Icon size={14} aria-hidden />
      {t(`trust.what.${what}`)}
    </h3>
  );
}

export interface WantListProps {
  wants: readonly Want[];
  checked: ReadonlySet<string>;
  onChange(access: AccessView, checked: boolean): void;
}

export function WantList({ wants, checked, onChange }: WantListProps) {
  return (
    <div className="flex flex-col gap-3 [&_[role=checkbox]]:mt-1 [&_label]:max-w-full [&_label]:items-start [&_li]:py-0.5">
      {grouped(wants).map(({ what, items }) => (
        <section key={what}>
          <What what={what} />
          <p className={hintClass}>{t(`trust.what.${what}.help`)}</p>
          <ul>
            {items.map((want) => (
              <li key={keyOf(want.access)}>
                <Checkbox
                  checked={checked.has(keyOf(want.access))}
                  onChange={(next) => onChange(want.access, next)}
                  data-testid={safetyIds.want(want.access.what, want.access.name)}
                >
                  <span className="flex flex-wrap items-center gap-y-0 gap-x-2 min-h-6 wrap-anywhere">
                    <code>{nameOf(want.access)}</code>
                    {want.inside && <Badge tone="asking">{t("trust.inside")}</Badge>}
                    {want.nodes.length > 0 && (
                      <span className="text-xs/inherit text-text-3">
                        {t("trust.nodes", { nodes: listed(want.nodes) })}
                      </span>
                    )}
                  </span>
                </Checkbox>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}
