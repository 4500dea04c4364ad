/** The search over the canvas, while there is one. The shell puts it in. */
import type { ComponentType } from "react";
import { createPortal } from "react-dom";
import type { JsonObject } from "../document/types";
import type { WireEnd } from "../document/wire-fit";
import { setCanvas, useCanvas, type Search } from "./store";

export interface NodeSearchProps {
  /** Where on the screen. */
  at: { x: number; y: number };
  /** The wire it opened from. */
  fromWire?: WireEnd | undefined;
  /** Begins with the usual kinds alone. */
  usual?: boolean;
  /** These nodes alone, and nothing new. */
  places?: readonly string[] | undefined;
  onPick(kind: string, config?: JsonObject): void;
  onConnectTo?: ((node: string) => void) | undefined;
  onClose(): void;
}

interface Props {
  readonly NodeSearch: ComponentType<NodeSearchProps>;
  readonly onPick: (search: Search, kind: string, config?: JsonObject) => void;
  readonly onConnectTo: (search: Search, node: string) => void;
}

export function NodeSearchSlot({ NodeSearch, onPick, onConnectTo }: Props) {
  const search = useCanvas((state) => state.search);
  if (!search) return null;
  const close = () => setCanvas({ search: null });
  const { wire } = search;
  return createPortal(
    <NodeSearch
      at={search.screen}
      fromWire={wire ?? undefined}
      usual={search.usual === true}
      places={search.moving?.places}
      onPick={(kind, config) => {
        close();
        onPick(search, kind, config);
      }}
      onConnectTo={
        wire
          ? (node) => {
              close();
              onConnectTo(search, node);
            }
          : undefined
      }
      onClose={close}
    />,
    document.body,
  );
}
