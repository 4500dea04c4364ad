/** All breakpoints of the open graph, each with a switch; a node that is gone is shown as such and can be removed. */
import { ChevronDown, ChevronRight, X } from "lucide-react";
import { useState } from "react";
import { Checkbox } from "../../components/Checkbox";
import { IconButton } from "../../components/IconButton";
import { enableBreakpoint, toggleBreakpoint, useBreakpoints } from "../../debugger/run/breakpoints";
import { doc, useIds } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

export function BreakpointList() {
  const points = useBreakpoints();
  useIds("node");
  const [open, setOpen] = useState(true);
  const select = useSession((session) => session.select);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div className="shrink-0 border-t border-line" data-testid={debugIds.breakpoints}>
      <button
        type="button"
        className="flex h-8 w-full items-center gap-1 px-2 text-left text-xs font-semibold text-text-2 hover:text-text"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Chevron size={14} aria-hidden />
        {t("debug.breakpoints")}
        {points.length > 0 && <span className="tabular-nums font-normal text-text-3">{points.length}</span>}
      </button>
      {open && (
        <ul className="max-h-40 overflow-y-auto pb-1">
          {points.length === 0 && (
            <li className="px-3 pb-2 text-xs text-text-2">{t("debug.breakpoints.none")}</li>
          )}
          {points.map(({ node, when, enabled }) => {
            const gone = !doc.has(`node:${node}`);
            const name = t(when === "before" ? "debug.breakpoints.before" : "debug.breakpoints.after", {
              node,
            });
            return (
              <li
                key={`${node}/${when}`}
                className="group flex h-7 items-center gap-2 px-3 hover:bg-surface-3"
              >
                <Checkbox
                  checked={enabled}
                  onChange={(next) => enableBreakpoint(node, when, next)}
                  aria-label={name}
                />
                <button
                  type="button"
                  className={`min-w-0 flex-1 truncate text-left text-sm ${gone || !enabled ? "text-text-3" : ""}`}
                  title={gone ? t("debug.breakpoints.gone") : name}
                  onClick={() => select({ nodes: [node] })}
                >
                  <span className="text-text-2">{t(when === "before" ? "debug.before" : "debug.after")}</span>{" "}
                  <span className={gone ? "line-through" : ""}>{node}</span>
                </button>
                <span className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
                  <IconButton
                    size="small"
                    label={t("debug.breakpoints.remove")}
                    onClick={() => toggleBreakpoint(node, when)}
                  >
                    <X size={13} aria-hidden />
                  </IconButton>
                </span>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
