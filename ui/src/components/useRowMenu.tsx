/** The menu of a row where the pointer is: a right click on the row opens what its button opens. */
import { type MouseEvent, type ReactElement, useState } from "react";
import { type MenuEntry, PointMenu } from "./Menu";

export interface RowMenu {
  /** For the row. */
  onContextMenu(event: MouseEvent): void;
  /** Belongs into the row, where clicks on it do not count as clicks on the row. */
  readonly menu: ReactElement;
}

export function useRowMenu(entries: MenuEntry[]): RowMenu {
  const [at, setAt] = useState<{ x: number; y: number } | null>(null);
  return {
    onContextMenu: (event) => {
      const { target } = event;
      // What is written in has the system's menu; and of rows in rows the inner one is meant.
      if (event.defaultPrevented || target instanceof HTMLInputElement) return;
      event.preventDefault();
      setAt({ x: event.clientX, y: event.clientY });
    },
    menu: <PointMenu at={at} entries={entries} onClose={() => setAt(null)} />,
  };
}
