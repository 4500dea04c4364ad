/** One value within another: drawn again when it changes, and not when what is beside it does. */
import { memo, useCallback } from "react";
import { useForm, type FieldProps } from "./form";
import { sameJson, type Json } from "./json";

interface Props<At> extends Omit<FieldProps, "onChange"> {
  /** The place in the value around. */
  at: At;
  /** Puts another value there; the same function for all renders. */
  put(at: At, value: Json): void;
}

function MemberField<At>({ at, put, ...field }: Props<At>) {
  const { Nested } = useForm();
  const change = useCallback((value: Json) => put(at, value), [put, at]);
  return <Nested {...field} onChange={change} />;
}

/** Schemas are resolved for each render of the value around: equal ones are the same. */
function areSame<At>({ schema, ...before }: Props<At>, { schema: next, ...after }: Props<At>): boolean {
  const names = Object.keys(before) as (keyof typeof before)[];
  return (
    names.length === Object.keys(after).length &&
    names.every((name) => Object.is(before[name], after[name])) &&
    sameJson(schema, next)
  );
}

export const Member = memo(MemberField, areSame) as typeof MemberField;
