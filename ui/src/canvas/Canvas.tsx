/** The graph as it is drawn and edited. */
export function Canvas() {
  return <div data-canvas className="h-full w-full bg-canvas" />;
}
