/** Frames the canvas while it shows a moment of the past, and leads back to now. */
import { History } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../components/Button";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { runCommand } from "../state/commands";
import { useSession } from "../state/session";

export function PastFrame({ children }: { children: ReactNode }) {
  const past = useSession((state) => state.use === "debug" && state.cursor.checkpointId !== null);
  return (
    <div
      className="relative flex-1 min-h-0 flex data-past:after:absolute data-past:after:inset-0 data-past:after:border-3 data-past:after:border-past data-past:after:pointer-events-none data-past:after:z-20"
      data-past={past || undefined}
    >
      {children}
      {past && (
        <div
          className="absolute top-0 left-1/2 z-21 flex h-8 -translate-x-1/2 items-center gap-2 rounded-b-lg bg-past pr-1 pl-3 text-xs/inherit font-semibold whitespace-nowrap text-canvas [&>button]:border-current [&>button:not(:hover)]:text-inherit"
          role="status"
          data-testid={shellIds.past}
        >
          <History size={14} aria-hidden />
          <span>{t("shell.past")}</span>
          <Button
            size="small"
            variant="ghost"
            onClick={() => runCommand("debug.backToNow")}
            data-testid={shellIds.backToNow}
          >
            {t("shell.past.back")}
          </Button>
        </div>
      )}
    </div>
  );
}
