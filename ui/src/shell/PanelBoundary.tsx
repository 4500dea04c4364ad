/** A panel that fails says so in its own place and can be tried again; the rest of the window goes on. */
import { Component, type ErrorInfo, type ReactNode } from "react";
import { CircleAlert } from "lucide-react";
import { Button } from "../components/Button";
import { EmptyState } from "../components/EmptyState";
import { t } from "../lib/texts";

interface Props {
  /** For the console. */
  readonly name: string;
  readonly children: ReactNode;
}

export class PanelBoundary extends Component<Props, { readonly error: Error | null }> {
  override state: { readonly error: Error | null } = { error: null };

  static getDerivedStateFromError(thrown: unknown): { error: Error } {
    return { error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
  }

  override componentDidCatch(thrown: unknown, info: ErrorInfo): void {
    console.error(`superstep: panel ${this.props.name} failed:`, thrown, info.componentStack);
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <EmptyState
        tone="failed"
        icon={<CircleAlert size={20} aria-hidden />}
        title={t("shell.panel.failed")}
        action={<Button onClick={() => this.setState({ error: null })}>{t("shell.panel.retry")}</Button>}
      >
        <span className="select-text break-words">{error.message}</span>
      </EmptyState>
    );
  }
}
