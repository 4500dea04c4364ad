/**
 * Short notes at the edge of the window. `toast()` works from anywhere, React or not; problems stay long enough to be
 * read twice, and say what to do. None goes while the pointer or the focus is on it.
 */
import { Toast as Base } from "@base-ui/react/toast";
import { CircleAlert, CircleCheck, Info, X } from "lucide-react";
import type { ReactNode } from "react";
import { t } from "../lib/texts";
import { iconButton } from "./recipes";
import { shellIds } from "../lib/testIds";

const manager = Base.createToastManager();
/** When each note that is shown was first shown, by its id. */
const shown = new Map<string, number>();
/** What leads on to another page says what it did at the same time. */
const SAME_TIME_MS = 500;

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
    onRemove: () => shown.delete(id),
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
  shown.set(id, performance.now());
  return id;
}

/** Takes a note away, if it is still there. */
export const closeToast = (id: string): void => manager.close(id);

/** Takes away the notes of a page that was left. What was said just now is of the action that led on, and stays on the next page. */
export function closeToasts(): void {
  const now = performance.now();
  for (const [id, at] of shown) if (now - at > SAME_TIME_MS) manager.close(id);
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
        <Base.Viewport className="fixed z-70 right-4 bottom-4 w-[min(360px,calc(100vw-32px))] flex flex-col-reverse gap-2">
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
        className="flex gap-2 py-2.5 pr-2 pl-2.5 bg-surface-2 border border-line border-l-3 border-l-running rounded-lg shadow-popup data-[tone=done]:border-l-done data-[tone=failed]:border-l-failed"
        // The region around reads it out; it takes no focus, so it is no dialog.
        role="group"
        data-tone={item.type}
        data-testid={shellIds.toast}
        swipeDirection="right"
      >
        <Icon
          size={16}
          className="text-running mt-0.5 shrink-0 in-data-[tone=done]:text-done in-data-[tone=failed]:text-failed"
          aria-hidden
        />
        <Base.Content className="flex-1 min-w-0 wrap-anywhere select-text">
          <Base.Title className="font-medium" />
          <Base.Description className="text-xs/[17px] text-text-2" />
          <Base.Action className="mt-1 text-xs/inherit font-medium text-accent-text underline underline-offset-2" />
        </Base.Content>
        <Base.Close className={iconButton("small")} aria-label={t("forms.close")}>
          <X size={14} aria-hidden />
        </Base.Close>
      </Base.Root>
    );
  });
}
