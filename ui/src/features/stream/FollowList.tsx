/**
 * A windowed list that keeps to its end, or to a place, while "follow" is on. Scrolling away by hand turns it off, as
 * reading and being pushed along do not go together; scrolling to the end turns it on again where the end is followed.
 */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

interface Props<T> {
  items: readonly T[];
  keyOf(item: T, index: number): string | number;
  estimate: number;
  follow: boolean;
  /** The place that is followed; null is the end, undefined is nowhere. */
  target?: number | null | undefined;
  onFollow(follow: boolean): void;
  label: string;
  children(item: T, index: number): ReactNode;
}

export function FollowList<T>(props: Props<T>) {
  const { items, keyOf, estimate, follow, onFollow, label, children } = props;
  const target = "target" in props ? props.target : null;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item, index);
    },
    overscan: 6,
  });
  const shown = rows.getVirtualItems();
  const total = rows.getTotalSize();
  // Where the end is changes with what is there and how tall it is, not with each word of a row: to ask for it costs a layout.
  const last = items.at(-1);
  const end = last === undefined ? null : keyOf(last, items.length - 1);
  useEffect(() => {
    const element = scroller.current;
    if (follow && target === null && element) element.scrollTop = element.scrollHeight;
  }, [follow, target, total, items.length, end]);
  useEffect(() => {
    if (follow && target !== null && target !== undefined) rows.scrollToIndex(target, { align: "center" });
  }, [follow, target, rows]);
  const byHand = (up: boolean) => {
    const element = scroller.current;
    if (!element) return;
    const atEnd = element.scrollHeight - element.scrollTop - element.clientHeight < 24;
    if ((up || target !== null) && follow && element.scrollHeight > element.clientHeight) onFollow(false);
    else if (!up && !follow && atEnd && target === null) onFollow(true);
  };
  return (
    <div
      ref={scroller}
      className="min-h-0 flex-1 overflow-y-auto focus-visible:outline-offset-[-2px]"
      role="log"
      aria-label={label}
      tabIndex={0}
      onWheel={(event) => byHand(event.deltaY < 0)}
      onKeyDown={(event) => {
        if (["ArrowUp", "PageUp", "Home"].includes(event.key)) byHand(true);
        if (["ArrowDown", "PageDown", "End"].includes(event.key)) byHand(false);
      }}
    >
      <div className="relative" style={{ height: total }}>
        {/* One block in the flow: an entry that grows pushes the next ones down at once, not a frame later. */}
        <div className="absolute inset-x-0" style={{ top: shown[0]?.start ?? 0 }}>
          {shown.map((item) => {
            const entry = items[item.index];
            if (entry === undefined) return null;
            return (
              <div key={item.key} ref={rows.measureElement} data-index={item.index}>
                {children(entry, item.index)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
