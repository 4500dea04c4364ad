/**
 * Short notes at the edge of the window. `toast()` works from anywhere, React or not; problems stay long enough to be
 * read twice, and say what to do. None goes while the pointer or the focus is on it.
 */
import { Toast as Base } from "@base-ui/react/toast";
import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../lib/texts";

const manager = Base.createToastManager();

export interface ToastOptions {
  title: string;
  text?: string | undefined;
  tone?: "neutral" | "done" | "failed";
  action?: { readonly label: string; readonly run: () => void };
  /** Milliseconds; 0 keeps it until closed. */
  timeout?: number;
}

/** Shows a note; the same words take the place of the note that already shows them. */
export function toast({ title, text, tone = "neutral", action, timeout }: ToastOptions): string {
  const id = `${tone}:${title}:${text ?? ""}`;
  manager.add({
    id,
    title,
    description: text,
    type: tone,
    priority: tone === "failed" ? "high" : "low",
    timeout: timeout ?? (tone === "failed" ? 30_000 : 5000),
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          action.run();
          manager.close(id);
        },
      },
    }),
  });
  return id;
}

export function closeToast(id: string): void {
  manager.close(id);
}

/** Shows anything thrown: what happened and what to do. Aborted requests are nobody's problem. */
export function toastProblem(problem: unknown, title?: string): void {
  if (problem instanceof DOMException && problem.name === "AbortError") return;
  const known = problem as { message?: unknown; remedy?: unknown } | null;
  const message = typeof known?.message === "string" ? known.message : String(problem);
  const remedy = typeof known?.remedy === "string" ? known.remedy : "";
  const text = [title === undefined ? "" : message, remedy].filter((part) => part !== "").join(" ");
  toast({ title: title ?? message, text: text === "" ? undefined : text, tone: "failed" });
}

export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Base.Provider toastManager={manager} limit={4}>
      {children}
      <Base.Portal>
        <Base.Viewport className="ss-toasts">
          <ToastList />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

const ICONS = { failed: CircleAlert, done: CircleCheck, neutral: Info };

function ToastList() {
  const { toasts } = Base.useToastManager();
  return toasts.map((item) => {
    const Icon = ICONS[(item.type ?? "neutral") as keyof typeof ICONS] ?? Info;
    return (
      <Base.Root
        key={item.id}
        toast={item}
        className="ss-toast"
        // The region around reads it out; it takes no focus, so it is no dialog.
        role="group"
        data-tone={item.type}
        data-testid="toast"
        swipeDirection="right"
      >
        <Icon size={16} className="ss-toast-icon" aria-hidden />
        <Base.Content className="ss-toast-texts">
          <Base.Title className="ss-toast-title" />
          <Base.Description className="ss-toast-text" />
          <Base.Action className="ss-toast-action" />
        </Base.Content>
        <Base.Close
          className="ss-icon-button"
          data-size="small"
          data-variant="ghost"
          aria-label={t("forms.close")}
        >
          <X size={14} aria-hidden />
        </Base.Close>
      </Base.Root>
    );
  });
}
