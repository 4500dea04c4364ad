/** The invariants of one record: added, edited, removed, each with how it stands at the moment that is shown. */
import { Plus, X } from "lucide-react";
import { memo, useCallback } from "react";
import { Button } from "../../components/Button";
import { ExpressionField } from "../../components/ExpressionField";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import {
  cardBodyClass,
  cardClass,
  helpClass,
  sectionClass,
  sectionTitleClass,
} from "../../components/recipes";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { askCheck } from "../../debugger/state/asked";
import type { KeyInfo } from "../../components/code/jinja";
import {
  addInvariant,
  invariantsOf,
  MOST_INVARIANTS,
  removeInvariant,
  setInvariant,
  WHEN_BROKEN,
  type Invariant,
} from "../../document/invariants";
import { edit } from "../../document/edit";
import { doc, useDocumentPart, useDiagnosticsAtRest } from "../../document/store";
import { queryIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { showToast } from "../../state/toasts";
import { Shield } from "./Shield";

type Section = "doc" | "key" | "node" | "edge";

/** What expressions see beside the state. */
const NAMES: Readonly<Record<Section, readonly string[]>> = {
  doc: ["old", "run"],
  node: ["old", "task", "run"],
  edge: ["old", "task", "run"],
  key: ["old", "new", "writer", "task", "run"],
};

interface Props {
  record: string;
  keys: readonly KeyInfo[];
  /** It has a form of its own, without a line above. */
  inside?: boolean;
}

export const InvariantsSection = memo(function InvariantsSection({ record, keys, inside = false }: Props) {
  const read = useCallback(() => invariantsOf(record, doc.get(record)), [record]);
  const invariants = useDocumentPart(read);
  const section = (record === "doc" ? "doc" : record.slice(0, record.indexOf(":"))) as Section;
  const add = () => {
    if (invariants.length >= MOST_INVARIANTS)
      showToast({ tone: "info", text: t("invariants.many", { n: MOST_INVARIANTS }) });
    else edit(t("invariants.edit.add"), (document) => addInvariant(document, record, ""));
  };
  return (
    <section className={inside ? "flex flex-col gap-2" : sectionClass} data-testid={queryIds.invariants}>
      <div className={sectionTitleClass}>
        <h3>{t("invariants.title")}</h3>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          aria-label={t("invariants.add")}
          onClick={add}
          data-testid={queryIds.invariantAdd}
        >
          {t("forms.schema.add")}
        </Button>
      </div>
      <p className={helpClass}>{t(`invariants.help.${section}`)}</p>
      {invariants.map((invariant) => (
        <Card key={invariant.place} invariant={invariant} section={section} keys={keys} />
      ))}
      {invariants.length > 0 && (
        <div>
          <Button
            size="small"
            variant="ghost"
            onClick={() => askCheck({})}
            data-testid={queryIds.invariantCheck}
          >
            {t("invariants.check")}
          </Button>
        </div>
      )}
    </section>
  );
});

function Card({
  invariant,
  section,
  keys,
}: {
  invariant: Invariant;
  section: Section;
  keys: readonly KeyInfo[];
}) {
  const { record, place, must, message, whenBroken, id } = invariant;
  const diagnostics = useDiagnosticsAtRest(record);
  const pointer = `/invariants/${place}`;
  const problems = (field: string) =>
    diagnostics
      .filter(
        (problem) =>
          problem.pointer === `${pointer}/${field}` || (field === "must" && problem.pointer === pointer),
      )
      .map(({ message: text, remedy, severity }) => ({ message: text, remedy, severity }));
  const set = (field: "must" | "message" | "when_broken", value: string) =>
    edit(t("invariants.edit.change"), (document) => setInvariant(document, record, place, field, value), {
      merge: `${record}${pointer}/${field}`,
    });
  const wrong = problems("must");
  return (
    <div className={cardClass} data-pointer={pointer} data-testid={queryIds.invariant(id)}>
      <div className={`${cardBodyClass} pt-2`}>
        <div className="flex items-start gap-1.5">
          <span className="pt-1.5">
            <Shield id={id} />
          </span>
          <div className="min-w-0 flex-1">
            <Field error={wrong} pointer={`${pointer}/must`}>
              <ExpressionField
                value={must}
                autoFocus={must === ""}
                onChange={(next) => set("must", next)}
                keys={keys}
                variables={NAMES[section].map((name) => ({ name, type: "" }))}
                error={wrong.find(({ severity }) => severity === "error")?.message}
                placeholder={t("invariants.mustExample")}
                aria-label={t("invariants.must")}
                data-testid={queryIds.invariantMust}
              />
            </Field>
          </div>
          <IconButton
            size="small"
            label={t("invariants.remove")}
            onClick={() =>
              edit(t("invariants.edit.remove"), (document) => removeInvariant(document, record, place))
            }
            data-testid={queryIds.invariantRemove}
          >
            <X size={13} aria-hidden />
          </IconButton>
        </div>
        <TextField
          value={message}
          onChange={(next) => set("message", next)}
          placeholder={t("invariants.messageExample")}
          aria-label={t("invariants.message")}
          data-testid={queryIds.invariantMessage}
        />
        <Field
          label={t("invariants.then")}
          error={problems("when_broken")}
          pointer={`${pointer}/when_broken`}
        >
          <Select
            size="small"
            value={whenBroken}
            options={WHEN_BROKEN.map((then) => ({
              value: then,
              label: t(`invariants.then.${then}`),
              description: t(`invariants.then.${then}.help`),
            }))}
            onChange={(next) => set("when_broken", next)}
            data-testid={queryIds.invariantThen}
          />
        </Field>
      </div>
    </div>
  );
}
