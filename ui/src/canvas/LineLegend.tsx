/** What the lines of the canvas mean, each as it is drawn. */
import { Spline } from "lucide-react";
import { IconButton } from "../components/IconButton";
import { Popover } from "../components/Popover";
import { shellIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { headPath, meaningOf, type LineForm } from "./lines";

const END = { x: 56, y: 10 };
const PATH = `M2,${END.y} H${END.x}`;

/** A line of the document, as it is drawn. */
function Sample({ form, taken = false }: { form: LineForm; taken?: boolean }) {
  return (
    <g className="line" data-form={form} data-means={meaningOf(form)} data-state={taken ? "taken" : "idle"}>
      {form === "each" && (
        <>
          <path className="line-stack" d={PATH} transform="translate(0 -3)" />
          <path className="line-stack" d={PATH} transform="translate(0 3)" />
        </>
      )}
      <path className="line-path" d={PATH} />
      <path className="line-head" d={headPath(END)} />
      {form === "join" && <path className="line-join" d={`M32,${END.y - 7} v14`} />}
    </g>
  );
}

/** A way without an edge. */
function Jump({ how }: { how: "said" | "seen" | "unknown" }) {
  return (
    <g className="line line-jump" data-how={how} data-state="idle">
      <path className="line-path" d={how === "unknown" ? `M2,${END.y} H42` : PATH} />
      {how === "unknown" ? (
        <>
          <circle className="fill-surface-1 stroke-edge" cx={50} cy={END.y} r={7} />
          <text className="fill-text-2 text-2xs font-semibold" x={50} y={END.y + 4} textAnchor="middle">
            ?
          </text>
        </>
      ) : (
        <path className="line-head" d={headPath(END)} />
      )}
    </g>
  );
}

const ROWS = ["fixed", "possible", "each", "join", "error", "said", "seen", "unknown", "taken"] as const;

function Drawing({ of }: { of: (typeof ROWS)[number] }) {
  if (of === "said" || of === "seen" || of === "unknown") return <Jump how={of} />;
  const form = of === "possible" ? "route" : of === "fixed" || of === "taken" ? "plain" : of;
  return <Sample form={form} taken={of === "taken"} />;
}

export function LineLegend() {
  return (
    <Popover
      label={t("wires.legend")}
      side="top"
      trigger={
        <IconButton size="small" side="top" label={t("wires.legend")} data-testid={shellIds.lineLegendButton}>
          <Spline size={14} aria-hidden />
        </IconButton>
      }
    >
      <ul className="flex flex-col gap-1.5 text-xs text-text-2" data-testid={shellIds.lineLegend}>
        {ROWS.map((means) => (
          <li key={means} className="flex items-center gap-3" data-means={means}>
            <svg width={60} height={20} className="shrink-0" aria-hidden>
              <Drawing of={means} />
            </svg>
            {t(`wires.means.${means}`)}
          </li>
        ))}
      </ul>
    </Popover>
  );
}
