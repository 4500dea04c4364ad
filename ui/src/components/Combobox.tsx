/** A text with suggestions: free text, the list is filtered while typing. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { ChevronsUpDown, Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";

export interface ComboboxItem {
  value: string;
  /** Shown right of the value, for example its type. */
  hint?: string | undefined;
  description?: string | undefined;
  icon?: ReactNode;
}

export interface ComboboxProps {
  value: string;
  items: ComboboxItem[];
  onChange(value: string): void;
  placeholder?: string | undefined;
  /** Said when nothing fits. */
  emptyText?: string;
  /** The text names one of the items: Enter takes the best match of what was typed. */
  choose?: boolean;
  /** A last row that makes what was typed; null while there is nothing to make. */
  make?: { readonly label: string; run(): void } | null;
  mono?: boolean;
  disabled?: boolean | undefined;
  className?: string;
  "aria-label"?: string;
  "data-testid"?: string;
}

/** Row that makes what was typed. */
const MAKE = "\u0000make";

/** Items that fit a text, the best first: the name itself, names that begin with it, that contain it, descriptions. */
export function matching(items: readonly ComboboxItem[], text: string): ComboboxItem[] {
  const query = text.trim().toLowerCase();
  const rank = ({ value, description }: ComboboxItem) => {
    const name = value.toLowerCase();
    if (name === query) return 0;
    if (name.startsWith(query)) return 1;
    if (name.includes(query)) return 2;
    return description?.toLowerCase().includes(query) === true ? 3 : 4;
  };
  return items
    .map((item) => [item, rank(item)] as const)
    .filter(([, place]) => place < 4)
    .sort(([, a], [, b]) => a - b)
    .map(([item]) => item);
}

export function Combobox({
  value,
  items,
  onChange,
  placeholder,
  emptyText,
  choose = false,
  make = null,
  mono = false,
  disabled,
  className,
  ...rest
}: ComboboxProps) {
  const aria = useFieldAria();
  // Until something is typed, a list that is opened on the name of an item shows them all: it is opened for another one.
  const [typed, setTyped] = useState(false);
  const fitting = !typed && items.some((item) => item.value === value) ? items : matching(items, value);
  const shown = make === null ? fitting : [...fitting, { value: MAKE }];
  return (
    <Autocomplete.Root
      value={value}
      onValueChange={(next, { reason }) => {
        if (next === MAKE) return;
        setTyped(reason === "input-change");
        onChange(next);
      }}
      onOpenChange={(open) => {
        if (!open) setTyped(false);
      }}
      items={shown}
      filteredItems={shown}
      itemToStringValue={(item: ComboboxItem) => item.value}
      autoHighlight={choose}
      openOnInputClick
      disabled={disabled}
    >
      <Autocomplete.InputGroup
        className={cx("ss-input ss-combobox", className)}
        data-mono={mono || undefined}
      >
        <Autocomplete.Input {...aria} {...rest} placeholder={placeholder} spellCheck={false} />
        <Autocomplete.Trigger className="ss-select-icon" tabIndex={-1} aria-hidden>
          <ChevronsUpDown size={13} aria-hidden />
        </Autocomplete.Trigger>
      </Autocomplete.InputGroup>
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="ss-layer-popup" sideOffset={4}>
          <Autocomplete.Popup className="ss-popup ss-list-popup">
            {emptyText !== undefined && (
              <Autocomplete.Empty className="ss-list-empty">{emptyText}</Autocomplete.Empty>
            )}
            <Autocomplete.List className="ss-list">
              {(item: ComboboxItem) =>
                item.value === MAKE ? (
                  <Autocomplete.Item
                    key={MAKE}
                    value={item}
                    className="ss-option"
                    onClick={() => make?.run()}
                  >
                    <Plus size={13} aria-hidden />
                    <span className="ss-option-texts">{make?.label}</span>
                  </Autocomplete.Item>
                ) : (
                  <Autocomplete.Item key={item.value} value={item} className="ss-option">
                    {item.icon}
                    <span className="ss-option-texts">
                      <span className="ss-option-label" data-mono={mono || undefined}>
                        {item.value}
                      </span>
                      {item.description !== undefined && (
                        <span className="ss-option-text">{item.description}</span>
                      )}
                    </span>
                    {item.hint !== undefined && <span className="ss-option-hint">{item.hint}</span>}
                  </Autocomplete.Item>
                )
              }
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}
