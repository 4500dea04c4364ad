/** One key in the list: its name, type and reducer, and its editor while it is open. */
import { ChevronDown, ChevronRight, CircleAlert, TriangleAlert } from "lucide-react";
import { Badge } from "../../components/Badge";
import { typeText } from "../../components/schema-form/types";
import { builderType } from "../../components/schema-form/SchemaBuilder";
import { useRoleOfKey } from "../../document/highlighted-key";
import { useDiagnostics, useRecord } from "../../document/store";
import { isObject, type JsonObject } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import type { Usage } from "../../document/usage";
import { KeyEditor } from "./KeyEditor";
import { channelText, reducerText } from "./reducers";

interface KeyRowProps {
  name: string;
  first: boolean;
  last: boolean;
  open: boolean;
  usage: Usage;
  onToggle(): void;
  onHover(on: boolean): void;
}

function typeBadge(key: JsonObject): string {
  const type = builderType(key);
  if (type === "enum") return t("forms.builder.enum");
  if (typeof key["type"] === "string") return typeText(key["type"]);
  return t("forms.type.any");
}

export function KeyRow({ name, first, last, open, usage, onToggle, onHover }: KeyRowProps) {
  const recordId = `key:${name}`;
  const record = useRecord(recordId);
  const problems = useDiagnostics(recordId);
  const key = isObject(record) ? record : {};
  const reducer = typeof key["reducer"] === "string" ? key["reducer"] : "overwrite";
  const users = usage.readers.length + usage.writers.length;
  const role = useRoleOfKey(usage);
  const failed = problems.some((problem) => problem.severity === "error");
  return (
    <li
      className="data-open:mt-0.5 data-open:mb-1.5 data-open:border data-open:border-line data-open:rounded-md data-open:bg-surface-1"
      data-key={name}
      data-open={open || undefined}
      data-lit={role ?? undefined}
    >
      <button
        type="button"
        className="flex items-center gap-1.5 w-full min-h-7 pr-1.5 pl-0.5 rounded-md text-left hover:bg-surface-3 focus-visible:-outline-offset-2 [&>svg]:text-text-3 [&>svg]:shrink-0 in-data-open:rounded-t-md in-data-open:rounded-b-none in-data-open:bg-surface-3 in-data-lit:bg-accent-soft"
        aria-expanded={open}
        onClick={onToggle}
        onPointerEnter={() => onHover(true)}
        onPointerLeave={() => onHover(false)}
        onFocus={() => onHover(true)}
        onBlur={() => onHover(false)}
        data-testid={formsIds.stateKey(name)}
      >
        {open ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
        <span className="flex-1 min-w-0 font-mono text-xs/inherit truncate">{name}</span>
        {problems.length > 0 && (
          <Badge
            tone={failed ? "failed" : "warning"}
            icon={failed ? <CircleAlert size={11} aria-hidden /> : <TriangleAlert size={11} aria-hidden />}
            title={problems.map((problem) => problem.message).join("\n")}
          >
            {problems.length}
          </Badge>
        )}
        <span className="text-2xs/inherit text-text-3 whitespace-nowrap shrink-0">{typeBadge(key)}</span>
        {reducer !== "overwrite" && <Badge title={reducer}>{reducerText(reducer)}</Badge>}
        {typeof key["channel"] === "string" && (
          <Badge tone="paused" mono title={channelText(key["channel"])}>
            {key["channel"]}
          </Badge>
        )}
        {role !== null && <Badge tone="accent">{t(`canvas.lit.${role}`)}</Badge>}
        {users === 0 && <Badge title={t("forms.state.unusedHelp")}>{t("forms.state.unused")}</Badge>}
      </button>
      {open && (
        <KeyEditor name={name} record={key} usage={usage} first={first} last={last} problems={problems} />
      )}
    </li>
  );
}
