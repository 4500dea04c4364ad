/** Where inside nested graphs the run stands at the cursor, over the canvas: each level leads to its graph. */
import { ArrowUpFromDot, ChevronRight, LocateFixed } from "lucide-react";
import { Button } from "../components/Button";
import { stepOut } from "../debugger/run/actions";
import { showInnermost, showLevel, standsInside, useNested } from "../debugger/model/nested";
import { useStatus } from "../debugger/model/status";
import { useControls } from "../debugger/run/useControls";
import { useGraphMeta } from "../document/store";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { shortcutOf } from "../state/keymap";
import { useSession } from "../state/session";

export function NestedPath() {
  const nested = useNested();
  const cursor = useSession((session) => session.cursor);
  const use = useSession((session) => session.use);
  const { name } = useGraphMeta();
  const { stepOff } = useControls();
  const asks = useStatus(cursor.threadId) === "asking";
  if (!standsInside(nested, { cursor, use })) return null;
  const isPast = nested.at !== null;
  const levels = [name || t("shell.unnamed"), ...nested.path.map(({ node }) => node)];
  return (
    <nav
      className="absolute top-2.5 in-data-past:top-10 left-2.5 z-6 flex items-center gap-1.5 max-w-[calc(100%-20px)] py-0.75 pr-1 pl-2 border border-line-strong rounded-lg bg-surface-2 text-xs [&_ol]:flex [&_ol]:items-center [&_ol]:gap-1 [&_ol]:min-w-0 [&_li]:flex [&_li]:items-center [&_li]:gap-1 [&_li]:min-w-0 [&_li>button]:p-1 [&_li>button]:rounded-sm [&_li>button]:text-text-2 [&_li>button]:truncate [&_li>button:hover]:text-text [&_li>button[aria-current]]:text-text [&_li>button[aria-current]]:font-semibold"
      aria-label={t("shell.nested")}
      data-testid={shellIds.nestedPath}
    >
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
      {nested.depth < nested.path.length && (
        <Button
          size="small"
          variant="ghost"
          icon={<LocateFixed size={14} aria-hidden />}
          onClick={showInnermost}
          data-testid={shellIds.nestedShow}
        >
          {isPast ? t("shell.nested.look") : t("shell.nested.show")}
        </Button>
      )}
      {!isPast && !asks && (
        <Button
          size="small"
          variant="ghost"
          icon={<ArrowUpFromDot size={14} aria-hidden />}
          shortcut={shortcutOf("run.stepOut")}
          disabled={stepOff !== null}
          onClick={() => void stepOut()}
          data-testid={shellIds.stepOut}
        >
          {t("debug.stepOut")}
        </Button>
      )}
    </nav>
  );
}
