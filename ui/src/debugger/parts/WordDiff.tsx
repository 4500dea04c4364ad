/** Two texts as one, with what was taken out struck through and what was put in underlined (colour is not the only sign). */
import { useMemo } from "react";
import { wordDiff } from "./diff";

/** Long equal parts are shortened to what stands around a change. */
const CONTEXT = 160;

export function WordDiff({
  before,
  after,
  whole = false,
}: {
  before: string;
  after: string;
  whole?: boolean;
}) {
  const pieces = useMemo(() => wordDiff(before, after), [before, after]);
  return (
    <div className="select-text font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
      {pieces.map((piece, index) => {
        if (piece.kind === "added") {
          return (
            <ins
              key={index}
              className="rounded-sm bg-diff-add underline decoration-done decoration-1 underline-offset-2"
            >
              {piece.text}
            </ins>
          );
        }
        if (piece.kind === "removed") {
          return (
            <del key={index} className="rounded-sm bg-diff-remove text-text-2 line-through decoration-failed">
              {piece.text}
            </del>
          );
        }
        return (
          <span key={index}>
            {whole ? piece.text : shorten(piece.text, index === 0, index === pieces.length - 1)}
          </span>
        );
      })}
    </div>
  );
}

function shorten(text: string, first: boolean, last: boolean): string {
  if (text.length <= CONTEXT * 2 + 20) return text;
  const head = first ? "" : text.slice(0, CONTEXT);
  const tail = last ? "" : text.slice(-CONTEXT);
  return `${head} … ${tail}`;
}
