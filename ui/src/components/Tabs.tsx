/** Tabs over one place. `segmented` is the small switch between two ways of seeing the same thing. */
import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";
import { cx } from "./cx";

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
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => {
        if (typeof next === "string") onChange(next);
      }}
      className={cx("ss-tabs", className)}
      data-look={look}
    >
      <div className="ss-tabs-bar">
        <Base.List className="ss-tabs-list" aria-label={label} activateOnFocus>
          {tabs.map((tab) => (
            <Base.Tab
              key={tab.id}
              value={tab.id}
              disabled={tab.disabled}
              title={tab.title}
              className="ss-tab"
              data-testid={`tab-${tab.id}`}
            >
              {tab.icon}
              <span className="ss-tab-label">{tab.label}</span>
              {tab.badge}
            </Base.Tab>
          ))}
        </Base.List>
        {aside !== undefined && <div className="ss-tabs-aside">{aside}</div>}
      </div>
      {tabs.some((tab) => tab.content !== undefined) &&
        tabs.map((tab) => (
          <Base.Panel
            key={tab.id}
            value={tab.id}
            className="ss-tab-panel"
            keepMounted={keepMounted}
            tabIndex={-1}
          >
            {tab.content}
          </Base.Panel>
        ))}
    </Base.Root>
  );
}
