/**
 * Variables of a program's environment, or headers of an address. A value that the file has written out is not shown: it
 * stays as it is until something is typed in its place.
 */
import { Plus, X } from "lucide-react";
import { useId } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import {
  fieldCardClass,
  cardBodyClass,
  cardHeadClass,
  hintClass,
  itemsClass,
} from "../../components/recipes";
import { TextField } from "../../components/TextField";
import type { McpVariable } from "../../ipc/bindings/McpVariable";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { SecretsOfText } from "../secrets";

interface VariableRowsProps {
  readonly rows: readonly McpVariable[];
  /** They are headers of an address. */
  readonly headers: boolean;
  onChange(rows: McpVariable[]): void;
}

export function VariableRows({ rows, headers, onChange }: VariableRowsProps) {
  const label = useId();
  const put = (at: number, row: McpVariable) =>
    onChange(rows.map((old, index) => (index === at ? row : old)));
  return (
    <div className={itemsClass} role="group" aria-labelledby={label} data-testid={safetyIds.serverVariables}>
      <span id={label} className="text-xs/inherit font-medium text-text-2">
        {t(headers ? "servers.headers" : "servers.env")}
      </span>
      <p className={hintClass}>
        {t(headers ? "servers.headersHelp" : "servers.envHelp", { reference: "${NAME}" })}
      </p>
      {rows.map((row, at) => (
        <div key={at} className={fieldCardClass}>
          <div className={cardHeadClass}>
            <TextField
              mono
              aria-label={t("servers.variable.name")}
              placeholder={headers ? "Authorization" : "API_TOKEN"}
              value={row.name}
              onChange={(name) => put(at, { ...row, name })}
              data-testid={safetyIds.serverVariableName(at)}
            />
            <IconButton
              size="small"
              label={t("servers.variable.remove", { name: row.name })}
              onClick={() => onChange(rows.filter((_, index) => index !== at))}
            >
              <X size={13} />
            </IconButton>
          </div>
          <div className={cardBodyClass}>
            <TextField
              mono
              aria-label={t("servers.variable.value", { name: row.name })}
              placeholder={
                row.value === undefined
                  ? t("servers.variable.kept")
                  : headers
                    ? "Bearer ${API_TOKEN}"
                    : "${API_TOKEN}"
              }
              value={row.value ?? ""}
              onChange={(value) => put(at, { ...row, value })}
              data-testid={safetyIds.serverVariableValue(at)}
            />
            <SecretsOfText
              text={row.value ?? ""}
              readOnly={false}
              offers
              onInsert={(reference) => put(at, { ...row, value: `${row.value ?? ""}${reference}` })}
            />
          </div>
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          onClick={() => onChange([...rows, { name: "", value: "" }])}
          data-testid={safetyIds.serverVariableAdd}
        >
          {t(headers ? "servers.header.add" : "servers.variable.add")}
        </Button>
      </div>
    </div>
  );
}
