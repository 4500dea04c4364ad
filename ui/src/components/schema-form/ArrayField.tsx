/** Items of a list: added, moved, copied, removed, and folded to a line when they are large. */
import { useId, useRef, useState } from "react";
import { ChevronDown, ChevronRight, CircleAlert, Copy, MoveDown, MoveUp, Plus, X } from "lucide-react";
import { t } from "../../lib/texts";
import { Badge } from "../Badge";
import { Button } from "../Button";
import { IconButton } from "../IconButton";
import { Menu } from "../Menu";
import { useStable } from "../stable";
import { useForm, beginning, INPUTS, type FieldProps } from "./form";
import { Member } from "./Member";
import { placeholderOf } from "./placeholder";
import { brief, sameJson, type Json } from "./json";
import { controlFor } from "./control";
import { resolve, type Schema } from "./schema";
import { variantTitle } from "./VariantsField";
import {
  cardBodyClass,
  cardClass,
  cardHeadClass,
  cardTitleClass,
  cardToggleClass,
  itemClass,
  itemsClass,
} from "../recipes";
import { cx } from "../cx";

export function ArrayField({
  schema,
  items,
  value,
  onChange,
  pointer,
  itemLabel,
}: FieldProps & { items: Schema; itemLabel: string | undefined }) {
  const form = useForm();
  const listId = useId();
  const list: Json[] = Array.isArray(value) ? value : [];
  const readOnly = form.readOnly || schema.readOnly === true;
  const kind = controlFor(items, form.root).kind;
  const simple =
    items["x-editor"] === undefined && ["text", "number", "boolean", "enum", "const"].includes(kind);
  // Which cards are open belongs to the item, wherever it is moved to.
  const [keys, setKeys] = useState<number[]>(() => list.map((_, index) => index));
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(list.length <= 2 ? list.map((_, index) => index) : []),
  );
  const [nextKey, setNextKey] = useState(list.length);
  const ids = list.map((_, index) => keys[index] ?? nextKey + index);

  /** What was added last, and where in it somebody writes first. */
  const added = useRef<{ key: number; first: string } | null>(null);
  const written = (): HTMLElement | null => {
    if (added.current === null) return null;
    const { key, first } = added.current;
    const place = first === "" ? "[data-item]" : `[data-item] [data-pointer$="/${first}"]`;
    const row = document.getElementById(`${listId}${key}`);
    return row?.querySelector<HTMLElement>(`${place} ${INPUTS}`) ?? null;
  };

  const change = (next: Json[], nextKeys: number[]) => {
    setKeys(nextKeys);
    onChange(next);
  };
  const add = (item: Json, at: number, first = "") => {
    const key = Math.max(nextKey, ...ids.map((id) => id + 1), 0);
    setNextKey(key + 1);
    setOpen((now) => new Set(now).add(key));
    form.workplace?.began?.(`${pointer}/${at}`);
    change([...list.slice(0, at), item, ...list.slice(at)], [...ids.slice(0, at), key, ...ids.slice(at)]);
    added.current = { key, first };
    requestAnimationFrame(() => written()?.focus());
  };
  const move = (from: number, to: number) => {
    if (to < 0 || to >= list.length) return;
    change(moved(list, from, to), moved(ids, from, to));
  };
  const remove = (index: number) =>
    change(
      list.filter((_, other) => other !== index),
      ids.filter((_, other) => other !== index),
    );
  const put = useStable((index: number, next: Json) =>
    change(
      list.map((other, at) => (at === index ? (next ?? null) : other)),
      ids,
    ),
  );
  const full = schema.maxItems !== undefined && list.length >= schema.maxItems;
  const noun = items.title ?? undefined;

  const tools = (index: number) =>
    readOnly ? null : (
      <>
        <IconButton
          size="small"
          label={t("forms.schema.moveUp", { n: index + 1 })}
          disabled={index === 0}
          onClick={() => move(index, index - 1)}
        >
          <MoveUp size={12} />
        </IconButton>
        <IconButton
          size="small"
          label={t("forms.schema.moveDown", { n: index + 1 })}
          disabled={index === list.length - 1}
          onClick={() => move(index, index + 1)}
        >
          <MoveDown size={12} />
        </IconButton>
        {!simple && (
          <IconButton
            size="small"
            label={t("forms.schema.duplicateItem", { n: index + 1 })}
            disabled={full}
            onClick={() => add(JSON.parse(JSON.stringify(list[index] ?? null)), index + 1)}
          >
            <Copy size={12} />
          </IconButton>
        )}
        <IconButton
          size="small"
          label={t("forms.schema.removeItem", { n: index + 1 })}
          onClick={() => remove(index)}
        >
          <X size={13} />
        </IconButton>
      </>
    );

  return (
    <div className={itemsClass}>
      {list.length === 0 && (
        <p className="text-xs/inherit text-text-3">
          {(value === undefined ? placeholderOf({ default: schema.default }) : undefined) ??
            t("forms.schema.empty")}
        </p>
      )}
      {list.map((item, index) => {
        const key = ids[index]!;
        const field = (
          <Member
            schema={items}
            value={item}
            at={index}
            put={put}
            pointer={`${pointer}/${index}`}
            name=""
            required
            bare
            label={`${itemLabel ?? ""} ${index + 1}`.trim()}
          />
        );
        if (simple) {
          return (
            <div key={key} id={`${listId}${key}`} className={itemClass}>
              <div className="min-w-0 flex-1" data-item>
                {field}
              </div>
              <div className="flex shrink-0 pt-0.75">{tools(index)}</div>
            </div>
          );
        }
        const isOpen = open.has(key);
        return (
          <div key={key} id={`${listId}${key}`} className={cardClass}>
            <div className={cardHeadClass}>
              <button
                type="button"
                className={cardToggleClass}
                aria-expanded={isOpen}
                onClick={() =>
                  setOpen((now) => {
                    const next = new Set(now);
                    if (!next.delete(key)) next.add(key);
                    return next;
                  })
                }
              >
                {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
                <span className={cardTitleClass}>
                  <b>{index + 1}</b>
                  {summaryOf(item, items, form.root)}
                </span>
                {!isOpen && form.problemsInside(`${pointer}/${index}`) && (
                  <Badge tone="failed" icon={<CircleAlert size={11} />} />
                )}
              </button>
              {tools(index)}
            </div>
            {isOpen && (
              <div className={cx(cardBodyClass, "min-w-0 flex-1")} data-item>
                {field}
              </div>
            )}
          </div>
        );
      })}
      {!readOnly && !full && (
        <div>
          <AddItem
            items={items}
            noun={noun}
            written={written}
            onAdd={(item, first) => add(named(item, list), list.length, first)}
          />
        </div>
      )}
    </div>
  );
}

/** One button, or a menu when an item has several forms. */
function AddItem({
  items,
  noun,
  written,
  onAdd,
}: {
  items: Schema;
  noun: string | undefined;
  /** Where somebody writes first in what was added. */
  written(): HTMLElement | null;
  onAdd(item: Json, first?: string): void;
}) {
  const form = useForm();
  const { root } = form;
  const control = controlFor(items, root);
  const text =
    noun === undefined ? t("forms.schema.add") : t("forms.schema.addItem", { name: noun.toLowerCase() });
  if (control.kind === "variants") {
    return (
      <Menu
        trigger={
          <Button size="small" icon={<Plus size={13} aria-hidden />}>
            {text}
          </Button>
        }
        entries={control.variants.map((variant, index) => ({
          id: String(index),
          label: variant.title ?? variantTitle(variant, index, root),
          run: () => onAdd(beginning(form, variant)),
        }))}
      />
    );
  }
  const begin = resolve(items, root)["x-begin"];
  if (begin !== undefined && begin.length > 0)
    return (
      <Menu
        trigger={
          <Button size="small" icon={<Plus size={13} aria-hidden />}>
            {text}
          </Button>
        }
        // What is written first takes the focus, not the button.
        finalFocus={written}
        entries={[
          ...begin.map(({ title, value, first }) => ({
            id: title,
            label: title,
            run: () => onAdd(structuredClone(value), first),
          })),
          { id: "other", label: t("forms.schema.addOther"), run: () => onAdd(beginning(form, items)) },
        ]}
      />
    );
  return (
    <Button size="small" icon={<Plus size={13} aria-hidden />} onClick={() => onAdd(beginning(form, items))}>
      {text}
    </Button>
  );
}

/** An item whose name no other item has. */
function named(item: Json, list: readonly Json[]): Json {
  const nameOf = (each: Json) =>
    typeof each === "object" && each !== null && !Array.isArray(each) ? each["name"] : undefined;
  const name = nameOf(item);
  const taken = new Set(list.map(nameOf));
  if (typeof name !== "string" || name === "" || !taken.has(name)) return item;
  let count = 2;
  while (taken.has(`${name}_${count}`)) count += 1;
  return { ...(item as Record<string, Json>), name: `${name}_${count}` };
}

function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  const [item] = next.splice(from, 1);
  next.splice(to, 0, item!);
  return next;
}

/** What the head of an item shows: its first texts and numbers, without what is so unless somebody says otherwise. */
export function summaryOf(item: Json, schema: Schema, root: Schema): string {
  if (typeof item !== "object" || item === null) return brief(item, 60);
  if (Array.isArray(item)) return brief(item, 60);
  const { properties } = resolve(schema, root);
  const parts = Object.keys(properties ?? item)
    .flatMap((name) => {
      const part = item[name];
      const property = resolve(properties?.[name], root);
      const said = (typeof part === "string" && part !== "") || typeof part === "number";
      if (!said || sameJson(part, property.default)) return [];
      const index = property.enum?.findIndex((value) => sameJson(value, part)) ?? -1;
      return [property["x-enum-labels"]?.[index] ?? brief(part, 40)];
    })
    .slice(0, 2);
  return parts.length > 0 ? parts.join(" · ") : "…";
}
