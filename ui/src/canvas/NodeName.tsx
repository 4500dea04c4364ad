/** The name of a node on its card, whole when the pointer is over it. It breaks between its words, not within one. */
import { Fragment } from "react";
import { namePieces } from "./name-pieces";
import { cardNameClass } from "./recipes";

/**
 * What a card is called, and what stands under that: its name and its title or kind. A name that only repeats the kind
 * says less than a title that somebody gave.
 */
export function cardWords(
  name: string,
  node: { readonly kind: string; readonly title?: string | undefined },
  kind: string,
): { readonly large: string; readonly small: string } {
  const { title } = node;
  if (title === undefined || title === "") return { large: name, small: kind };
  const given =
    name !== node.kind && !(name.startsWith(`${node.kind}_`) && /^_\d+$/.test(name.slice(node.kind.length)));
  return given ? { large: name, small: title } : { large: title, small: name };
}

export function NodeName({ name, ...rest }: { name: string; "data-testid"?: string }) {
  return (
    <span className={cardNameClass} title={name} {...rest}>
      {namePieces(name).map((piece, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {piece}
        </Fragment>
      ))}
    </span>
  );
}
