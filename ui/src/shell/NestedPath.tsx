/** Where inside nested graphs the run stands, over the canvas: each level leads to its graph. */
import { ArrowUpFromDot, ChevronRight } from "lucide-react";
import { Button } from "../components/Button";
import { stepOut } from "../debugger/run/actions";
import { showLevel, standsInside, useNested } from "../debugger/model/nested";
import { useControls } from "../debugger/run/useControls";
import { useGraphMeta } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { KEYMAP } from "../state/keymap";
import { useSession } from "../state/session";

export function NestedPath() {
  const nested = useNested();
  const cursor = useSession((session) => session.cursor);
  const use = useSession((session) => session.use);
  const { name } = useGraphMeta();
  const { stepOff } = useControls();
  if (!standsInside(nested, { cursor, use })) return null;
  const levels = [name || t("shell.unnamed"), ...nested.path.map(({ node }) => node)];
  return (
    <nav className="nested-path" aria-label={t("shell.nested")} data-testid={shellIds.nestedPath}>
      <ol>
        {levels.map((level, depth) => (
          <li key={depth}>
            {depth > 0 && <ChevronRight size={13} aria-hidden />}
            <button
              type="button"
              aria-current={depth === nested.depth ? "location" : undefined}
              onClick={() => showLevel(depth)}
            >
              {level}
            </button>
          </li>
        ))}
      </ol>
      <Button
        size="small"
        variant="ghost"
        icon={<ArrowUpFromDot size={14} aria-hidden />}
        shortcut={KEYMAP["run.stepOut"]?.keys[0] ?? ""}
        disabled={stepOff !== null}
        onClick={() => void stepOut()}
        data-testid={shellIds.stepOut}
      >
        {t("debug.stepOut")}
      </Button>
    </nav>
  );
}
