/** All breakpoints of the open graph, each with a switch; one at something that is gone is shown as such and can be removed. */
import { Pencil, Plus, X } from "lucide-react";
import { useState } from "react";
import { Checkbox } from "../../components/Checkbox";
import { IconButton } from "../../components/IconButton";
import { Menu, type MenuEntry } from "../../components/Menu";
import { PanelSection } from "../../components/PanelSection";
import { UnknownKeys } from "../../components/UnknownKeys";
import { useOffCannotEdit, useOnlyRead } from "../../debugger/model/only-read";
import { addBreakpoint, editBreakpoint } from "../../debugger/run/breakpoint-dialog";
import { detailText, placeText } from "../../debugger/run/breakpoint-text";
import {
  enableBreakpoint,
  missingOf,
  pointId,
  removeBreakpoint,
  useBreakpoints,
} from "../../debugger/run/breakpoints";
import { doc, useIds } from "../../document/store";
import type { Breakpoint } from "../../ipc/bindings/Breakpoint";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

/** The places that no node or edge of the canvas stands for; the others are added there. */
type Elsewhere = Exclude<Breakpoint["when"], "before" | "after" | "edge">;
export const BREAKPOINT_PLACES: readonly ({ readonly when: Elsewhere } & Partial<Breakpoint>)[] = [
  { when: "watch" },
  { when: "key" },
  { when: "error", node: "*" },
  { when: "retry", node: "*" },
  { when: "question", node: "*" },
  { when: "emitted", node: "*" },
  { when: "steps", limit: 10 },
  { when: "seconds", limit: 10 },
  { when: "tokens", limit: 10_000 },
  { when: "cost", amount: 0.1 },
  { when: "stateBytes", limit: 100_000 },
  { when: "keyBytes", limit: 100_000 },
];

export function BreakpointList() {
  const points = useBreakpoints();
  useIds("node");
  useIds("key");
  const [open, setOpen] = useState(true);
  const off = useOffCannotEdit();
  const attached = useOnlyRead((store) => store.attached !== null);
  const places = BREAKPOINT_PLACES.filter(({ when }) => !attached || when === "watch");
  const add: MenuEntry[] = places.map((place) => ({
    id: place.when,
    label: t(`breakpoints.add.${place.when}`),
    run: () => addBreakpoint(place),
  }));
  return (
    <PanelSection
      title={t("debug.breakpoints")}
      count={points.length}
      open={open}
      onOpen={setOpen}
      data-testid={debugIds.breakpoints}
      action={
        <Menu
          align="end"
          entries={add}
          trigger={
            <IconButton
              size="small"
              label={off ?? t("breakpoints.add")}
              disabled={off !== null}
              data-testid={debugIds.breakpointAdd}
            >
              <Plus size={14} aria-hidden />
            </IconButton>
          }
        />
      }
    >
      <ul className="max-h-48 overflow-y-auto pb-1">
        {points.length === 0 && (
          <li className="px-3 pb-2 text-xs text-text-2">{off ?? t("debug.breakpoints.none")}</li>
        )}
        {points.map((point) => (
          <Row key={pointId(point)} point={point} />
        ))}
      </ul>
    </PanelSection>
  );
}

function Row({ point }: { point: Breakpoint }) {
  const select = useSession((session) => session.select);
  const gone = missingOf(point, (record) => doc.has(record)).length > 0;
  const id = pointId(point);
  const place = placeText(point);
  const keys = useIds("key");
  const detail = detailText(point);
  const reveal = () => {
    if (doc.has(`node:${point.node}`)) select({ nodes: [point.node] });
    else editBreakpoint(point);
  };
  return (
    <li
      className="group flex min-h-7 items-center gap-2 py-0.5 pr-1 pl-3 hover:bg-surface-3"
      data-testid={debugIds.breakpoint}
    >
      <Checkbox checked={point.enabled} onChange={(next) => enableBreakpoint(id, next)} aria-label={place} />
      <div className="min-w-0 flex-1">
        <button
          type="button"
          className={`block w-full text-left text-sm ${gone || !point.enabled ? "text-text-3" : ""}`}
          title={gone ? t("breakpoints.gone") : [place, detail].filter(Boolean).join("\n")}
          onClick={reveal}
          onDoubleClick={() => editBreakpoint(point)}
        >
          <span className={`block truncate ${gone ? "line-through" : ""}`}>{place}</span>
          {detail !== "" && <span className="block truncate font-mono text-xs text-text-2">{detail}</span>}
        </button>
        {point.within === undefined && (
          <>
            <UnknownKeys text={point.condition ?? ""} keys={keys} />
            <UnknownKeys text={point.log ?? ""} keys={keys} template />
          </>
        )}
      </div>
      <span className="flex opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <IconButton size="small" label={t("breakpoints.edit")} onClick={() => editBreakpoint(point)}>
          <Pencil size={13} aria-hidden />
        </IconButton>
        <IconButton size="small" label={t("debug.breakpoints.remove")} onClick={() => removeBreakpoint(id)}>
          <X size={13} aria-hidden />
        </IconButton>
      </span>
    </li>
  );
}
