/** Renames a state key or a node everywhere: how much changes exactly, and which places of programs change as well. */
import { useMemo, useState } from "react";
import { Checkbox } from "../../components/Checkbox";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { hintClass } from "../../components/recipes";
import { TextField } from "../../components/TextField";
import { knownKinds } from "../../canvas/kinds";
import { renameEverywhere, renameKeyEverywhere } from "../../canvas/records";
import { renameProblem, usesOf, type Named } from "../../document/rename";
import { useRename } from "../../document/rename-question";
import { doc, useDocumentState } from "../../document/store";
import { renamedAt, type Use } from "../../document/uses";
import { findIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { recordLabel } from "./places";
import { lineAround } from "./rows";
import { useFind } from "./search";

const close = () => useRename.setState({ named: null });

export function RenameDialog() {
  const { named, to } = useRename();
  return named && <Rename named={named} begin={to ?? named.name} />;
}

function Rename({ named, begin }: { named: Named; begin: string }) {
  const [to, setTo] = useState(begin);
  const uses = useMemo(() => usesOf(doc, knownKinds(), useDocumentState.getState().leads, named), [named]);
  const programs = uses.filter((use) => use.program === true);
  const [left, setLeft] = useState<ReadonlySet<Use>>(() => new Set(programs.filter(({ unsure }) => unsure)));
  const exact = uses.filter((use) => use.program !== true && use.role !== "definition").length;
  const name = to.trim();
  const problem = renameProblem(doc, named, name);
  const confirm = () => {
    if (name !== named.name) {
      const chosen = programs.filter((use) => !left.has(use));
      const rename = named.what === "node" ? renameEverywhere : renameKeyEverywhere;
      if (rename(named.name, name, chosen)) follow(named, name);
    }
    close();
  };
  return (
    <FormDialog
      onClose={close}
      title={t(`rename.title.${named.what}`, { name: named.name })}
      size="medium"
      save={t("rename.do")}
      onSave={confirm}
      isDone={problem === null}
      data-testid={findIds.rename}
      className="gap-3"
      saveTestId={findIds.renameConfirm}
    >
      <Field
        label={t("rename.to")}
        error={problem === null ? undefined : t(`rename.problem.${problem}`)}
        description={
          exact === 0 ? t("rename.exact.none") : tn("rename.exact.one", "rename.exact.many", exact)
        }
      >
        <TextField
          value={to}
          onChange={setTo}
          onFocus={(event) => event.currentTarget.select()}
          data-testid={findIds.renameTo}
        />
      </Field>
      {programs.length > 0 && (
        <section className="flex flex-col gap-1">
          <h3 className="text-xs font-semibold">{t("rename.programs")}</h3>
          <p className={hintClass}>{t("rename.programsHelp")}</p>
          <ul className="flex max-h-72 flex-col overflow-y-auto rounded-md border border-line">
            {programs.map((use, index) => (
              <li
                key={index}
                className="flex min-w-0 items-center gap-2 px-2 py-0.5 not-first:border-t not-first:border-line"
              >
                <Checkbox
                  checked={!left.has(use)}
                  onChange={(checked) => {
                    const next = new Set(left);
                    if (checked) next.delete(use);
                    else next.add(use);
                    setLeft(next);
                  }}
                  aria-label={`${recordLabel(use.record)}: ${use.text.slice(use.at?.from, use.at?.to)}`}
                  data-testid={findIds.renameProgram(index)}
                />
                <Preview use={use} to={problem === null ? name : named.name} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </FormDialog>
  );
}

/** What is listed under the old name goes on under the new one. */
function follow(named: Named, to: string): void {
  const listed = useFind.getState().usesOf;
  if (listed?.what === named.what && listed.name === named.name)
    useFind.setState({ usesOf: { what: named.what, name: to, was: named.name } });
}

function Preview({ use, to }: { use: Use; to: string }) {
  if (!use.at) return null;
  const { before, text, after, line } = lineAround(use.text, use.at.from, use.at.to);
  const whole = renamedAt(use.text, use, to);
  // The changed line: it may be longer on both sides of the name.
  const changed = (whole.split("\n")[line - 1] ?? "").trim();
  return (
    <span className="min-w-0 flex-1 text-2xs" title={`${before}${text}${after}`}>
      <span className="block truncate text-text-3">
        {recordLabel(use.record)} · {t("find.line", { n: line })}
      </span>
      <code className="block truncate font-mono">
        {before}
        <mark className="rounded-[3px] bg-failed-soft px-0.5 text-text line-through">{text}</mark>
        {after}
      </code>
      <code className="block truncate font-mono">
        <ins className="rounded-[3px] bg-done-soft px-0.5 no-underline">{changed}</ins>
      </code>
    </span>
  );
}
