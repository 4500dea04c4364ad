/** A text with suggestions: free text unless `strict`, filtered while typing. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
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
  mono?: boolean;
  disabled?: boolean | undefined;
  className?: string;
  "aria-label"?: string;
  "data-testid"?: string;
}

export function Combobox({
  value,
  items,
  onChange,
  placeholder,
  emptyText,
  mono = false,
  disabled,
  className,
  ...rest
}: ComboboxProps) {
  const aria = useFieldAria();
  // When the text is exactly one of the items, the list shows them all: opening it means "another one".
  const exact = items.some((item) => item.value === value);
  return (
    <Autocomplete.Root
      value={value}
      onValueChange={(next) => onChange(next)}
      items={items}
      itemToStringValue={(item: ComboboxItem) => item.value}
      filter={
        exact
          ? null
          : (item: ComboboxItem, query: string) =>
              `${item.value} ${item.description ?? ""}`.toLowerCase().includes(query.trim().toLowerCase())
      }
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
              {(item: ComboboxItem) => (
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
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}
