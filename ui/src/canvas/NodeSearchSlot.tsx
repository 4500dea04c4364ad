/** The search over the canvas, while there is one. */
import { createPortal } from "react-dom";
import { NodeSearch } from "../features/palette/NodeSearch";
import { setCanvas, useCanvas, type Search } from "./store";

interface Props {
  readonly onPick: (search: Search, kind: string) => void;
  readonly onConnectTo: (search: Search, node: string) => void;
}

export function NodeSearchSlot({ onPick, onConnectTo }: Props) {
  const search = useCanvas((state) => state.search);
  if (!search) return null;
  const close = () => setCanvas({ search: null });
  const { wire } = search;
  return createPortal(
    <NodeSearch
      at={search.screen}
      fromWire={wire ? { node: wire.node, end: wire.side === "out" ? "from" : "to" } : undefined}
      onPick={(kind) => {
        close();
        onPick(search, kind);
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
