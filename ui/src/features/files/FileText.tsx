/** A file that is no graph: what is wrong with it, its text to be corrected, and the ways on. Only this text is saved to it. */
import { FileWarning, History, Plus, Save } from "lucide-react";
import { useMemo } from "react";
import { foreignHelp } from "../../canvas/clipboard";
import { Button } from "../../components/Button";
import { ALL_LINES, CodeEditor } from "../../components/CodeEditor";
import { hintClass } from "../../components/recipes";
import { builderName, whatIs } from "../../document/foreign-formats";
import { typeText } from "../../document/open-graph";
import { useDiagnostics, useDocumentState, useGraphMeta } from "../../document/store";
import { fileTextIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";

/** Another builder's file begins with what tells so. */
const MAX_LOOKED_AT = 1 << 20;

export function FileText() {
  const text = useDocumentState((state) => state.text) ?? "";
  const { name, dirty } = useGraphMeta();
  const problem = useDiagnostics().find(({ severity }) => severity === "error");
  const known = useMemo(() => (text.length > MAX_LOOKED_AT ? null : whatIs(text)), [text]);
  const showTab = useSession((state) => state.showTab);
  const says =
    known?.is === "foreign"
      ? {
          message: t("foreign.is", { builder: builderName(known.builder) }),
          help: foreignHelp(known.builder),
        }
      : problem
        ? { message: problem.message, help: problem.remedy }
        : { message: t("fileText.mended"), help: t("fileText.mendedHelp") };
  return (
    <section
      className="flex h-full min-h-0 w-full flex-col bg-surface-1"
      aria-label={t("fileText.title", { file: name })}
      data-testid={fileTextIds.pane}
    >
      <header className="flex shrink-0 flex-col gap-2 border-b border-line p-4 px-12">
        <h2 className="flex min-w-0 items-center gap-2 text-base font-semibold">
          <FileWarning size={16} className="shrink-0" aria-hidden />
          <span className="truncate" title={name}>
            {t("fileText.title", { file: name })}
          </span>
        </h2>
        <div role="status" data-testid={fileTextIds.problem}>
          <p>{says.message}</p>
          <p className={hintClass}>{says.help}</p>
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <Button
            variant="primary"
            size="small"
            icon={<Save size={13} aria-hidden />}
            disabled={!dirty}
            onClick={() => runCommand("graph.save")}
            data-testid={fileTextIds.save}
          >
            {t("fileText.save")}
          </Button>
          <Button
            size="small"
            icon={<History size={13} aria-hidden />}
            onClick={() => showTab("right", "versions", "design")}
            data-testid={fileTextIds.versions}
          >
            {t("fileText.versions")}
          </Button>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => runCommand("graph.new")}
            data-testid={fileTextIds.new}
          >
            {t("fileText.new")}
          </Button>
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-auto">
        <CodeEditor
          value={text}
          onChange={typeText}
          mode="json"
          lineNumbers
          maxLines={ALL_LINES}
          className="min-h-full"
          aria-label={t("fileText.label")}
          data-testid={fileTextIds.editor}
        />
      </div>
    </section>
  );
}
