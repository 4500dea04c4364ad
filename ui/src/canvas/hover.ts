/** The line under the pointer, which shows what can be added there; it stays a moment, so that the pointer gets to it. */
import { setCanvas } from "./store";

const STAYS_MS = 250;
const COMES_MS = 120;

let timer: ReturnType<typeof setTimeout> | undefined;

export function hoverLine(id: string | null): void {
  clearTimeout(timer);
  timer = setTimeout(() => setCanvas({ hovered: id }), id === null ? STAYS_MS : COMES_MS);
}
