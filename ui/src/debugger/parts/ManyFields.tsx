/** A form as a schema has it; one of many fields is folded and searched. */
import { useMemo, useState } from "react";
import { SchemaForm, type SchemaFormProps } from "../../components/schema-form/SchemaForm";
import { FieldSearch } from "./FieldSearch";
import { countFields, countFound, folded, MAX_OPEN } from "./many-fields";

export function ManyFields({ schema, reveal = null, ...form }: SchemaFormProps) {
  const [words, setWords] = useState("");
  // A field that is asked for may have other words.
  if (reveal !== null && words !== "") setWords("");
  const fields = useMemo(() => countFields(schema), [schema]);
  const found = useMemo(() => (words === "" ? 0 : countFound(schema, words)), [schema, words]);
  const laidOut = useMemo(() => folded(schema, words), [schema, words]);
  return (
    <>
      {fields > MAX_OPEN && <FieldSearch words={words} onChange={setWords} fields={fields} found={found} />}
      <SchemaForm schema={laidOut} reveal={reveal} {...form} />
    </>
  );
}
