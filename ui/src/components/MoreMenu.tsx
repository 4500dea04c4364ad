/** The menu of what finds no room in a row: its button is as wide as the row leaves for it. */
import { ChevronDown } from "lucide-react";
import { useRef, type ReactNode } from "react";
import { listed } from "../lib/intl";
import { formsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { MORE_WIDTH } from "./overflow";
import { Menu } from "./Menu";

interface Item {
  readonly id: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly badge?: ReactNode;
  readonly disabled?: boolean;
}

interface Props {
  readonly items: readonly Item[];
  onChoose(id: string): void;
  /** What has the focus when something has been chosen. */
  chosen(): HTMLElement | null;
}

export function MoreMenu({ items, onChoose, chosen }: Props) {
  const button = useRef<HTMLButtonElement>(null);
  const took = useRef(false);
  return (
    <Menu
      align="end"
      entries={items.map(({ id, label, icon, badge, disabled }) => ({
        id,
        label,
        icon: badge ?? icon,
        disabled,
        run: () => {
          took.current = true;
          onChoose(id);
        },
      }))}
      onOpenChange={(open) => {
        if (open) took.current = false;
      }}
      finalFocus={() => (took.current ? chosen() : button.current)}
      trigger={
        <button
          ref={button}
          type="button"
          className="inline-flex shrink-0 items-center self-stretch justify-center gap-0.5 text-xs font-medium text-text-2 hover:text-text focus-visible:-outline-offset-3 data-popup-open:text-text"
          style={{ width: MORE_WIDTH }}
          title={t("tabs.more.hint", { names: listed(items.map(({ label }) => label)) })}
          data-testid={formsIds.moreTabs}
        >
          {t("tabs.more")}
          <ChevronDown size={13} aria-hidden />
        </button>
      }
    />
  );
}
