/** Frames the canvas while it shows a moment of the past; the button above it leads back to now. */
import { History } from "lucide-react";
import type { ReactNode } from "react";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
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
          className="absolute top-0 left-1/2 z-21 flex h-8 -translate-x-1/2 items-center gap-2 rounded-b-lg bg-past px-3 text-xs/inherit font-semibold whitespace-nowrap text-canvas"
          role="status"
          data-testid={shellIds.past}
        >
          <History size={14} aria-hidden />
          <span>{t("shell.past")}</span>
        </div>
      )}
    </div>
  );
}
