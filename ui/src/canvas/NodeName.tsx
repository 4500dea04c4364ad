/** The name of a node on its card, whole when the pointer is over it. It breaks between its words, not within one. */
import { Fragment } from "react";
import { namePieces } from "./name-pieces";
import { cardNameClass } from "./recipes";

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
