/** The wires of a port while all of them are moved: from the ends that stay to the pointer. */
import type { ConnectionLineComponentProps } from "@xyflow/react";
import { curve, portOf } from "./geometry";
import { startOf } from "./lines";
import { scene } from "./scene";
import { useCanvas } from "./store";

export function CarriedLines({ toX, toY, connectionLineStyle }: ConnectionLineComponentProps) {
  const wiring = useCanvas((state) => state.wiring);
  const pointer = { x: toX, y: toY };
  const paths = (wiring?.carried ?? []).flatMap((line) => {
    const rect = scene.rect(wiring?.side === "out" ? line.from : line.to);
    if (!rect) return [];
    const d =
      wiring?.side === "out" ? curve(startOf(line, rect), pointer) : curve(pointer, portOf(rect, "in"));
    return [{ id: line.id, d }];
  });
  return paths.map(({ id, d }) => (
    <path key={id} className="react-flow__connection-path" d={d} style={connectionLineStyle} />
  ));
}
