/**
 * Tabs over one place. `segmented` is the small switch between two ways of seeing the same thing. Tabs that find no room are
 * in a menu behind the others; they stay in the list, so that arrow keys and screen readers come to all of them.
 */
import { Tabs as Base } from "@base-ui/react/tabs";
import { useRef, type ReactNode } from "react";
import { cx } from "./cx";
import { unfitClass, useFitting } from "./overflow";
import { MoreMenu } from "./MoreMenu";
import { formsIds } from "../lib/testIds";

export interface TabItem {
  id: string;
  label: string;
  icon?: ReactNode;
  /** A count or a mark right of the label. */
  badge?: ReactNode;
  disabled?: boolean;
  title?: string | undefined;
  content?: ReactNode;
}

export interface TabsProps {
  value: string;
  onChange(value: string): void;
  tabs: TabItem[];
  label: string;
  look?: "line" | "segmented";
  /** Right end of the tab bar. */
  aside?: ReactNode;
  className?: string;
  /** Keep panels mounted when hidden. */
  keepMounted?: boolean;
}

const TAB =
  "inline-flex items-center gap-1.5 font-medium whitespace-nowrap text-text-2 hover:text-text data-active:text-text data-disabled:cursor-not-allowed data-disabled:opacity-50 [&>svg]:shrink-0";

const LOOKS = {
  line: {
    // In a dialog the words stand under its title.
    bar: "border-b border-line px-2 in-[[role=dialog]]:-ml-2 in-[[role=dialog]]:px-0",
    // The line of the active tab lies on that of the bar.
    room: "-mb-px",
    list: "",
    gap: 0,
    padding: 0,
    tab: "h-8 border-b-2 border-transparent px-2 text-xs focus-visible:-outline-offset-3 data-active:border-accent",
  },
  segmented: {
    bar: "",
    room: "",
    list: "gap-0.5 rounded-md bg-surface-4 p-0.5",
    gap: 2,
    padding: 4,
    tab: "h-5 pointer-coarse:h-6 rounded-sm px-2 text-2xs data-active:bg-chosen",
  },
};

export function Tabs({
  value,
  onChange,
  tabs,
  label,
  look = "line",
  aside,
  className,
  keepMounted = false,
}: TabsProps) {
  const { gap, padding } = LOOKS[look];
  const ids = tabs.map(({ id }) => id);
  const fitting = useFitting(ids, value, gap, padding);
  const list = useRef<HTMLDivElement>(null);
  const more = tabs.filter(({ id }) => fitting.hidden.has(id));
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => {
        if (typeof next === "string") onChange(next);
      }}
      className={cx("flex min-h-0 min-w-0 flex-col", className)}
    >
      <div className={cx("flex shrink-0 items-center justify-between gap-2", LOOKS[look].bar)}>
        <div
          ref={fitting.ref}
          className={cx("relative flex min-w-0 flex-1 overflow-hidden", LOOKS[look].room)}
          style={{ width: fitting.whole > 0 ? fitting.whole : undefined }}
        >
          <Base.List
            ref={list}
            className={cx("flex shrink-0", LOOKS[look].list)}
            aria-label={label}
            activateOnFocus
          >
            {tabs.map((tab) => (
              <Base.Tab
                key={tab.id}
                value={tab.id}
                disabled={tab.disabled}
                title={tab.title}
                className={cx(TAB, LOOKS[look].tab, fitting.hidden.has(tab.id) && unfitClass)}
                data-fit={tab.id}
                data-testid={formsIds.tab(tab.id)}
              >
                {tab.icon}
                <span>{tab.label}</span>
                {tab.badge}
              </Base.Tab>
            ))}
          </Base.List>
          {more.length > 0 && (
            <MoreMenu
              items={more}
              onChoose={onChange}
              chosen={() => list.current?.querySelector("[aria-selected=true]") ?? null}
            />
          )}
        </div>
        {aside !== undefined && <div className="flex shrink-0 items-center gap-1">{aside}</div>}
      </div>
      {tabs.some((tab) => tab.content !== undefined) &&
        tabs.map((tab) => (
          <Base.Panel
            key={tab.id}
            value={tab.id}
            className="min-h-0 flex-1 outline-none"
            keepMounted={keepMounted}
            tabIndex={-1}
          >
            {tab.content}
          </Base.Panel>
        ))}
    </Base.Root>
  );
}
