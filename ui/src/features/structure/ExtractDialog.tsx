/** Asks what a graph made of selected nodes is called, where it goes, and which state keys it shares. */
import { TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { Checkbox } from "../../components/Checkbox";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { hintClass } from "../../components/recipes";
import { TextField } from "../../components/TextField";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { nodeNameProblem, uniqueName } from "../../document/edits";
import type { Extraction, KeyRole } from "../../document/extraction";
import { doc } from "../../document/store";
import { listed } from "../../lib/intl";
import { withEnding } from "../../lib/path";
import { structureIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { registerCommands } from "../../state/commands";
import { useSession } from "../../state/session";
import {
  askExtraction,
  extractNodes,
  inlineSelected,
  nestedSelected,
  selectedNodes,
  useExtraction,
} from "./actions";

const close = () => useExtraction.setState({ plan: null });

export function ExtractDialog() {
  const plan = useExtraction((state) => state.plan);
  useEffect(() => {
    const group = t("structure.group");
    const designing = () => useSession.getState().use === "design";
    return registerCommands([
      {
        id: "graph.extract",
        title: t("structure.extract"),
        group,
        enabled: () => designing() && selectedNodes().length > 0,
        run: askExtraction,
      },
      {
        id: "graph.inline",
        title: t("structure.inline"),
        group,
        enabled: () => designing() && nestedSelected() !== null,
        run: () => void inlineSelected(),
      },
    ]);
  }, []);
  return plan && <Extract plan={plan} />;
}

/** The words of a name as a file is called. */
const fileOf = (node: string) =>
  `${node
    .trim()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .toLowerCase()}.json`;

function nameOf(node: string): string {
  const words = node.replace(/[-_\s]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const of = (keys: readonly KeyRole[], role: "given" | "taken") =>
  new Set(keys.filter((key) => key[role]).map(({ name }) => name));

function Extract({ plan }: { plan: Extraction }) {
  const [node, setNode] = useState(() => uniqueName(doc, "node", `${plan.entries[0] ?? "part"}_graph`));
  const [written, setFile] = useState<string | null>(null);
  const [given, setGiven] = useState(() => of(plan.keys, "given"));
  const [taken, setTaken] = useState(() => of(plan.keys, "taken"));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const file = written ?? fileOf(node);
  const nameProblem = nodeNameProblem(doc, node.trim());
  const fileProblem = /^[^\\/]*[^\\/.\s][^\\/]*$/.test(file) ? null : t("structure.extract.fileProblem");
  const confirm = () => {
    setBusy(true);
    setProblem(null);
    const choice = { node: node.trim(), name: nameOf(node), file: withEnding(file.trim()), given, taken };
    extractNodes(plan, choice).then(close, (thrown: unknown) => {
      setProblem(asProblem(thrown));
      setBusy(false);
    });
  };
  return (
    <FormDialog
      onClose={close}
      title={t("structure.extract.title")}
      description={tn("structure.extract.one", "structure.extract.many", plan.nodes.length)}
      size="medium"
      save={t("structure.extract.confirm")}
      isDone={nameProblem === null && fileProblem === null}
      busy={busy}
      onSave={confirm}
      saveTestId={structureIds.extractConfirm}
      data-testid={structureIds.extract}
    >
      <div className="grid grid-cols-2 gap-3">
        <Field
          label={t("structure.extract.name")}
          error={nameProblem === null ? undefined : t(`canvas.name.${nameProblem}`, { name: node })}
        >
          <TextField value={node} onChange={setNode} data-testid={structureIds.extractName} />
        </Field>
        <Field
          label={t("structure.extract.file")}
          description={t("structure.extract.fileHelp")}
          error={fileProblem ?? undefined}
        >
          <TextField value={file} mono onChange={setFile} data-testid={structureIds.extractFile} />
        </Field>
      </div>
      <Keys keys={plan.keys} given={given} taken={taken} onGiven={setGiven} onTaken={setTaken} />
      {plan.ends.length > 0 && (
        <p className="mt-2 flex gap-2 text-xs text-text-2" data-testid={structureIds.extractEnds}>
          <TriangleAlert size={14} className="mt-0.5 shrink-0 text-asking" aria-hidden />
          {t("structure.extract.ends", { names: listed(plan.ends.map((name) => `“${name}”`)) })}
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
    </FormDialog>
  );
}

interface KeysProps {
  readonly keys: readonly KeyRole[];
  readonly given: ReadonlySet<string>;
  readonly taken: ReadonlySet<string>;
  onGiven(next: Set<string>): void;
  onTaken(next: Set<string>): void;
}

function Keys({ keys, given, taken, onGiven, onTaken }: KeysProps) {
  if (keys.length === 0) return null;
  const used = ({ reads, writes }: KeyRole) => reads || writes;
  // Programs may use a key in ways that nobody can read from outside: all of them can be chosen.
  const rows = [...keys.filter(used), ...keys.filter((key) => !used(key))];
  const uses = ({ reads, writes }: KeyRole) =>
    t(`structure.extract.uses.${reads && writes ? "both" : reads ? "reads" : writes ? "writes" : "none"}`);
  const toggled = (set: ReadonlySet<string>, name: string, on: boolean) => {
    const next = new Set(set);
    if (on) next.add(name);
    else next.delete(name);
    return next;
  };
  return (
    <section className="mt-3 flex min-h-0 flex-col gap-1">
      <h3 className="text-xs font-medium text-text-2">{t("structure.extract.keys")}</h3>
      <p className={hintClass}>{t("structure.extract.keysHelp")}</p>
      <div className="max-h-56 overflow-y-auto rounded-md border border-line">
        <table className="w-full text-sm">
          <thead className="sticky top-0 bg-surface-1 text-left text-2xs text-text-3">
            <tr className="[&>th]:px-2.5 [&>th]:py-1 [&>th]:font-medium">
              <th>{t("structure.extract.key")}</th>
              <th />
              <th>{t("structure.extract.given")}</th>
              <th>{t("structure.extract.taken")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((key) => (
              <tr key={key.name} className="border-t border-line [&>td]:px-2.5 [&>td]:py-0.5">
                <td className="font-mono text-xs wrap-anywhere">{key.name}</td>
                <td className="text-xs text-text-3">{uses(key)}</td>
                <td>
                  <Checkbox
                    checked={given.has(key.name)}
                    onChange={(on) => onGiven(toggled(given, key.name, on))}
                    aria-label={t("structure.extract.givenOf", { key: key.name })}
                    data-testid={structureIds.extractGiven(key.name)}
                  />
                </td>
                <td>
                  <Checkbox
                    checked={taken.has(key.name)}
                    onChange={(on) => onTaken(toggled(taken, key.name, on))}
                    aria-label={t("structure.extract.takenOf", { key: key.name })}
                    data-testid={structureIds.extractTaken(key.name)}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
