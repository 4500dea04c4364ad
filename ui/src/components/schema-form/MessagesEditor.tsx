/**
 * A list of chat messages: who says it, and what. Fields it does not know (ids, tool calls, names) stay as they are;
 * a message of another shape is edited as JSON.
 */
import { Plus, X } from "lucide-react";
import { t, type TextKey } from "../../lib/texts";
import { Button } from "../Button";
import { FieldParts } from "../Field";
import { IconButton } from "../IconButton";
import { JsonEditor } from "../JsonEditor";
import { Select } from "../Select";
import { TextArea } from "../TextField";
import type { Json } from "./json";
import { cardBodyClass, fieldCardClass, cardHeadClass, itemClass, itemsClass } from "../recipes";

const ROLES: { value: string; label: TextKey; also: string[] }[] = [
  { value: "human", label: "forms.messages.role.human", also: ["user"] },
  { value: "ai", label: "forms.messages.role.ai", also: ["assistant"] },
  { value: "system", label: "forms.messages.role.system", also: [] },
  { value: "tool", label: "forms.messages.role.tool", also: [] },
];

/** The field that names the speaker: LangChain writes `type`, providers write `role`. */
function roleField(message: Json): "type" | "role" {
  return typeof message?.role === "string" && typeof message?.type !== "string" ? "role" : "type";
}

export interface MessagesEditorProps {
  value: Json;
  onChange(value: Json): void;
  readOnly?: boolean;
}

export function MessagesEditor({ value, onChange, readOnly = false }: MessagesEditorProps) {
  // One message, or plain text, is what people give for a list of one.
  const list: Json[] = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  const set = (index: number, message: Json) =>
    onChange(list.map((other, at) => (at === index ? message : other)));
  return (
    <div className={itemsClass}>
      <FieldParts>
        {list.map((message, index) => {
          const remove = !readOnly && (
            <IconButton
              size="small"
              label={t("forms.schema.removeItem", { n: index + 1 })}
              onClick={() => {
                const left = list.filter((_, at) => at !== index);
                onChange(left.length === 0 ? undefined : left);
              }}
            >
              <X size={13} />
            </IconButton>
          );
          const isPlain =
            typeof message === "object" && message !== null && typeof message.content === "string";
          if (!isPlain) {
            return (
              <div key={index} className={itemClass}>
                <div className="flex-1 min-w-0">
                  <JsonEditor
                    value={message}
                    onChange={(next) => set(index, next ?? null)}
                    readOnly={readOnly}
                    aria-label={t("forms.messages.content", { n: index + 1 })}
                  />
                </div>
                {remove}
              </div>
            );
          }
          const field = roleField(message);
          const role = String(message[field] ?? "human");
          const known = ROLES.some((each) => each.value === role || each.also.includes(role));
          return (
            <div key={index} className={fieldCardClass}>
              <div className={cardHeadClass}>
                <Select
                  size="small"
                  aria-label={t("forms.messages.role", { n: index + 1 })}
                  value={role}
                  disabled={readOnly}
                  same={(a, b) => a === b || ROLES.some((each) => each.value === a && each.also.includes(b))}
                  options={[
                    ...ROLES.map((each) => ({ value: each.value, label: t(each.label) })),
                    ...(known ? [] : [{ value: role, label: role }]),
                  ]}
                  onChange={(next) => set(index, { ...message, [field]: next })}
                />
                <span className="flex-1 min-w-0" />
                {remove}
              </div>
              <div className={cardBodyClass}>
                <TextArea
                  aria-label={t("forms.messages.content", { n: index + 1 })}
                  placeholder={t("forms.messages.placeholder")}
                  value={message.content}
                  onChange={(content) => set(index, { ...message, content })}
                  readOnly={readOnly}
                  minRows={2}
                />
              </div>
            </div>
          );
        })}
      </FieldParts>
      {!readOnly && (
        <div>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => onChange([...list, { type: list.length % 2 === 0 ? "human" : "ai", content: "" }])}
          >
            {t("forms.messages.add")}
          </Button>
        </div>
      )}
    </div>
  );
}
