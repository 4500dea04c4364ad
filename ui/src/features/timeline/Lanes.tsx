/** One row's part of the commit graph: lines that pass, lines that arrive from a fork, and the checkpoint's dot. */
import { memo } from "react";
import { type LaneRow, MOST_LANES } from "../../debugger/timeline/lanes";
import type { Way } from "../../debugger/timeline/walk";

const GAP = 14;
const INSET = 10;

const lanesWidth = (lanes: number): number => INSET * 2 + (Math.min(lanes, MOST_LANES) - 1) * GAP;

const x = (lane: number): number => INSET + Math.min(lane, MOST_LANES - 1) * GAP;

interface Props {
  row: LaneRow;
  width: number;
  height: number;
  source: string;
  selected: boolean;
  onPath: boolean;
  /** Lines on the way to the cursor, which are strong: a sign for each, `1` or `0`. */
  strong: string;
  tone: "failed" | "asking" | undefined;
}

/** Which lines of a row are on the way, as text: a row is drawn again only when that is another. */
export const strongLines = (row: LaneRow, path: Way): string =>
  row.lines
    .map(({ child, half, from, to }) =>
      Number(path.has(child) && (half === "lower" || path.has(row.id) || from === to)),
    )
    .join("");

export const Lanes = memo(function Lanes({
  row,
  width,
  height,
  source,
  selected,
  onPath,
  strong: signs,
  tone,
}: Props) {
  const middle = height / 2;
  const at = x(row.lane);
  const color =
    tone === "failed"
      ? "var(--failed)"
      : tone === "asking"
        ? "var(--asking)"
        : onPath
          ? "var(--accent)"
          : "var(--line-field)";
  return (
    <svg width={lanesWidth(width)} height={height} className="shrink-0 overflow-visible" aria-hidden>
      {row.lines.map((line, index) => {
        const strong = signs[index] === "1";
        const from = x(line.from);
        const to = x(line.to);
        const d =
          line.half === "lower"
            ? `M${from} ${middle} V${height}`
            : from === to
              ? `M${from} 0 V${middle}`
              : `M${from} 0 C${from} ${middle} ${from} ${middle} ${to} ${middle}`;
        return (
          <path
            key={index}
            d={d}
            fill="none"
            stroke={strong ? "var(--accent)" : "var(--line-strong)"}
            strokeWidth={strong ? 2 : 1.5}
          />
        );
      })}
      {selected && <circle cx={at} cy={middle} r={8} fill="none" stroke="var(--accent)" strokeWidth={1.5} />}
      <Dot source={source} cx={at} cy={middle} color={color} />
    </svg>
  );
});

/** The shape says where the checkpoint came from: input, a step, an edit, a fork; or that several steps are folded. */
function Dot({ source, cx, cy, color }: { source: string; cx: number; cy: number; color: string }) {
  switch (source) {
    case "input":
      return <path d={`M${cx - 4} ${cy - 5} L${cx + 5} ${cy} L${cx - 4} ${cy + 5} Z`} fill={color} />;
    case "update":
      return (
        <rect x={cx - 4} y={cy - 4} width={8} height={8} transform={`rotate(45 ${cx} ${cy})`} fill={color} />
      );
    case "fork":
      return <circle cx={cx} cy={cy} r={4} fill="var(--surface-1)" stroke={color} strokeWidth={2} />;
    case "stretch":
      return (
        <path
          d={`M${cx} ${cy - 7}V${cy + 7}`}
          stroke={color}
          strokeWidth={5}
          strokeLinecap="round"
          strokeDasharray="0.1 6.9"
        />
      );
    default:
      return <circle cx={cx} cy={cy} r={4.5} fill={color} />;
  }
}
