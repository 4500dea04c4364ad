/** The parts that other folders bring, each in an error boundary of its own: one that fails does not take the window along. */
import type { ComponentType } from "react";
import { PanelBoundary } from "./PanelBoundary";

const modules = import.meta.glob<Record<string, unknown>>(["../features/**/*.{ts,tsx}", "!../features/**/*.test.{ts,tsx}"], { eager: true });

function find(name: string): ComponentType<Record<string, unknown>> | null {
  for (const module of Object.values(modules)) {
    const found = module[name];
    if (typeof found === "function") return found as ComponentType<Record<string, unknown>>;
  }
  return null;
}

export function Slot({ name, ...props }: { name: string } & Record<string, unknown>) {
  const Found = find(name);
  return <PanelBoundary name={name}>{Found ? <Found {...props} /> : null}</PanelBoundary>;
}

/** A function that a feature brings. */
export function featureFunction<F>(name: string): F | undefined {
  for (const module of Object.values(modules)) if (typeof module[name] === "function") return module[name] as F;
  return undefined;
}
