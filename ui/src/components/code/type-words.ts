/** What is surely wrong with the types of an expression, in words. */
import { listed } from "../../lib/intl";
import { t } from "../../lib/texts";
import { typeWords } from "../schema-form/types";
import type { Side, TypeNotice } from "./expression-types";

/** A part of an expression with the type that it has. */
const side = ({ text, schema }: Side): string => t("forms.code.side", { text, type: plainType(schema) });

/** The type without the values that it is one of. */
const plainType = ({ enum: values, ...schema }: Side["schema"]): string =>
  values && schema.type === undefined ? typeWords({ enum: values }) : typeWords(schema);

/** A value as it is written in an expression. */
const written = (value: unknown): string => (value === null ? "none" : JSON.stringify(value));

export function noticeWords(notice: TypeNotice): string {
  switch (notice.what) {
    case "compare":
      return t("forms.code.compare", { left: side(notice.left), right: side(notice.right) });
    case "choice":
      return notice.side === ""
        ? t("forms.code.oneOf", { values: listed(notice.values.map(written)) })
        : t("forms.code.choice", { side: notice.side, values: listed(notice.values.map(written)) });
    case "operand":
      return t("forms.code.operand", {
        sign: notice.sign,
        left: side(notice.left),
        right: side(notice.right),
      });
    case "field":
      return notice.fields.length > 0
        ? t("forms.code.noField", { of: notice.of.text, name: notice.name, fields: listed(notice.fields) })
        : t("forms.code.noFields", { of: side(notice.of), name: notice.name });
    case "inside":
      return t("forms.code.inside", { side: side(notice.side) });
    case "expected":
      return t("forms.code.expected", { gives: plainType(notice.gives), wanted: typeWords(notice.schema) });
    case "constant":
      return t("forms.code.constant");
  }
}
