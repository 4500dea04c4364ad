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
    <div className="past-frame" data-past={past || undefined}>
      {children}
      {past && (
        <div className="past-label" role="status" data-testid={shellIds.past}>
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
