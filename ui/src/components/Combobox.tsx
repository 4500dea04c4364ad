/** A text with suggestions: free text, the list is filtered while typing. */
import { Autocomplete } from "@base-ui/react/autocomplete";
import { ChevronsUpDown, Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { cx } from "./cx";
import { useFieldAria } from "./Field";
import { innerInputClass, inputClass, inputTextClass, optionClass, popupClass } from "./recipes";

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

/**
 * Is a model named by a part of its name only, so that Enter takes the match? With `::` it is written out: another model may
 * begin with the same letters.
 */
export const namesPart = (model: string): boolean => !model.includes("::");

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
      <Autocomplete.InputGroup className={cx(inputClass, inputTextClass(mono), "px-2", className)}>
        <Autocomplete.Input
          className={innerInputClass}
          {...aria}
          {...rest}
          placeholder={placeholder}
          spellCheck={false}
        />
        <Autocomplete.Trigger className="flex text-text-3 shrink-0" tabIndex={-1} aria-hidden>
          <ChevronsUpDown size={13} aria-hidden />
        </Autocomplete.Trigger>
      </Autocomplete.InputGroup>
      <Autocomplete.Portal>
        <Autocomplete.Positioner className="outline-none z-60" sideOffset={4}>
          <Autocomplete.Popup
            className={cx(
              popupClass,
              "w-max min-w-(--anchor-width) max-w-[min(420px,var(--available-width))]",
            )}
          >
            {emptyText !== undefined && (
              <Autocomplete.Empty className="not-empty:py-2 not-empty:px-3 not-empty:text-xs/inherit not-empty:text-text-2">
                {emptyText}
              </Autocomplete.Empty>
            )}
            <Autocomplete.List className="max-h-[min(320px,var(--available-height,320px))] overflow-y-auto p-1 scroll-p-1">
              {(item: ComboboxItem) =>
                item.value === MAKE ? (
                  <Autocomplete.Item
                    key={MAKE}
                    value={item}
                    className={optionClass}
                    onClick={() => make?.run()}
                  >
                    <Plus size={13} aria-hidden />
                    <span className="flex flex-col flex-1 min-w-0">{make?.label}</span>
                  </Autocomplete.Item>
                ) : (
                  <Autocomplete.Item key={item.value} value={item} className={optionClass}>
                    {item.icon}
                    <span className="flex flex-col flex-1 min-w-0">
                      <span className={cx(mono && "font-mono text-xs/inherit")} data-label>
                        {item.value}
                      </span>
                      {item.description !== undefined && (
                        <span className="text-2xs/[15px] text-text-3">{item.description}</span>
                      )}
                    </span>
                    {item.hint !== undefined && (
                      <span className="text-2xs/inherit text-text-3 font-mono ml-3">{item.hint}</span>
                    )}
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
