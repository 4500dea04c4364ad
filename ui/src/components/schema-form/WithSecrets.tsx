/** A field whose text may name secrets, with what the place around the form adds below it; a name goes where the cursor is. */
import { useRef, type ReactNode } from "react";
import { useForm } from "./form";
import type { Json } from "./json";
import type { Schema } from "./schema";

interface WithSecretsProps {
  schema: Schema;
  value: Json;
  readOnly: boolean;
  onChange(value: Json): void;
  children: ReactNode;
}

export function WithSecrets({ schema, value, readOnly, onChange, children }: WithSecretsProps) {
  const { workplace } = useForm();
  const root = useRef<HTMLDivElement>(null);
  const visited = useRef(false);
  if (workplace === undefined) return children;
  const text = typeof value === "string" ? value : "";
  // In an expression a name is part of a text; where none has begun, one begins with it.
  const written = (reference: string, before: string) =>
    schema["x-editor"] !== "expression" || (before.split(/["']/).length - 1) % 2 === 1
      ? reference
      : `'${reference}'`;
  const insert = async (reference: string) => {
    const place = root.current;
    if (place === null) return;
    if (place.querySelector(".cm-content") !== null) {
      const { insertInto } = await import("../code/editor");
      insertInto(place, visited.current, (before) => written(reference, before));
      return;
    }
    const field = place.querySelector<HTMLTextAreaElement | HTMLInputElement>("textarea, input");
    const from = visited.current ? (field?.selectionStart ?? text.length) : text.length;
    const to = visited.current ? (field?.selectionEnd ?? from) : from;
    const before = text.slice(0, from);
    const added = written(reference, before);
    onChange(before + added + text.slice(to));
    requestAnimationFrame(() => {
      field?.focus();
      field?.setSelectionRange(from + added.length, from + added.length);
    });
  };
  return (
    <div className="flex flex-col gap-1.5 min-w-0">
      <div
        ref={root}
        className="min-w-0"
        onFocus={() => {
          visited.current = true;
        }}
      >
        {children}
      </div>
      <workplace.Secrets
        text={text}
        readOnly={readOnly}
        offers={schema["x-secrets"] === true}
        onInsert={(reference) => void insert(reference)}
      />
    </div>
  );
}
