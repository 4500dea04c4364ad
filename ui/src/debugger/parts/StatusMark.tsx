/** The mark of a state: shape and colour and, for a screen reader, the word. One look everywhere. */
import {
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleStop,
  CircleX,
  CornerDownRight,
  LoaderCircle,
  Unplug,
  type LucideIcon,
  MessageCircleQuestionMark,
} from "lucide-react";
import type { RunStatus } from "../../ipc/bindings/RunStatus";
import type { TaskStatus } from "../../ipc/bindings/TaskStatus";
import { t, type TextKey } from "../../lib/texts";

/** `unknown`: it ran when the host last answered. */
export type ShownStatus = RunStatus | "unknown";
/** `rerouted`: it failed, and the run went on along its error way. */
export type AnyStatus = ShownStatus | TaskStatus | "rerouted";

const LOOK: Record<AnyStatus, { icon: LucideIcon; color: string; text: TextKey }> = {
  running: { icon: LoaderCircle, color: "text-running", text: "debug.status.running" },
  done: { icon: CircleCheck, color: "text-done", text: "debug.status.done" },
  asking: { icon: MessageCircleQuestionMark, color: "text-asking", text: "debug.status.asking" },
  paused: { icon: CirclePause, color: "text-paused", text: "debug.status.paused" },
  failed: { icon: CircleX, color: "text-failed", text: "debug.status.failed" },
  rerouted: { icon: CornerDownRight, color: "text-failed", text: "canvas.state.rerouted" },
  stopped: { icon: CircleStop, color: "text-text-2", text: "debug.status.stopped" },
  unknown: { icon: Unplug, color: "text-text-2", text: "debug.status.unknown" },
  waiting: { icon: CircleDashed, color: "text-text-3", text: "debug.status.waiting" },
};

export const statusText = (status: AnyStatus): string => t(LOOK[status].text);
export function StatusMark({ status, size = 15 }: { status: AnyStatus; size?: number }) {
  const { icon: Icon, color, text } = LOOK[status];
  return (
    <span className={`inline-flex shrink-0 ${color}`} title={t(text)}>
      <Icon
        size={size}
        aria-hidden
        className={status === "running" ? "motion-safe:animate-spin" : undefined}
      />
      <span className="sr-only">{t(text)}</span>
    </span>
  );
}
