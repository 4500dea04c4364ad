/** The keys of the state: what they hold, how updates join, and which nodes and edges use them. */
import { Braces, Plus } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Button } from "../../components/Button";
import { EmptyState } from "../../components/EmptyState";
import { doc, useDocumentVersion, useIds } from "../../document/store";
import { sealHistory } from "../../document/edit";
import { sectionOf } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { light } from "../../document/highlighted-key";
import { useSession } from "../../state/session";
import { addStateKey } from "./add-key";
import { usageOf, type Usage } from "../../document/usage";
import { showTypes } from "./TypesDialog";
import { panelBarClass, panelClass } from "../../components/recipes";
import { KeyRow } from "./KeyRow";

const NO_USE: Usage = { readers: [], writers: [] };

export function StatePanel() {
  const names = useIds("key");
  const selected = useSession((state) => state.selection.key);
  const select = useSession((state) => state.select);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const pending = useSession((state) => state.pendingFocus);
  const version = useDocumentVersion();
  const usage = useMemo(() => {
    void version;
    return usageOf(doc, kinds ?? []);
  }, [version, kinds]);
  const panel = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<string | null>(null);
  const shown = hovered ?? selected;
  useEffect(() => light(shown === null ? null : (usage.get(shown) ?? null)), [shown, usage]);
  useEffect(() => () => light(null), []);

  useEffect(() => {
    const place = pending === null ? null : sectionOf(pending.record);
    if (pending === null || place?.section !== "key") return;
    const session = useSession.getState();
    if (session.selection.key !== place.name) session.select({ key: place.name });
    const frame = requestAnimationFrame(() => {
      const card = panel.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(place.name)}"]`);
      // Without a pointer the key itself is meant: its name is the first field of its card.
      const { pointer } = pending;
      const field =
        (pointer === null
          ? null
          : card?.querySelector<HTMLElement>(`[data-pointer="${CSS.escape(pointer)}"]`)) ?? card;
      const control =
        field?.querySelector<HTMLElement>("input, textarea, [role=combobox], .cm-content") ??
        field?.querySelector<HTMLElement>("button");
      control?.focus({ preventScroll: true });
      // A key that has just been added is still to be named.
      if (pointer === null && control instanceof HTMLInputElement) control.select();
      card?.scrollIntoView({ block: "nearest" });
      session.clearPendingFocus();
    });
    return () => cancelAnimationFrame(frame);
  }, [pending]);

  if (names.length === 0) {
    return (
      <EmptyState
        compact
        title={t("forms.state.none")}
        action={
          <Button
            variant="primary"
            icon={<Plus size={14} aria-hidden />}
            onClick={addStateKey}
            data-testid={formsIds.addKey}
          >
            {t("forms.state.add")}
          </Button>
        }
      >
        {t("forms.state.noneHelp")}
      </EmptyState>
    );
  }
  return (
    <div className={panelClass} ref={panel} data-testid={formsIds.statePanel} onBlur={sealHistory}>
      <div className={panelBarClass}>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          onClick={addStateKey}
          data-testid={formsIds.addKey}
        >
          {t("forms.state.add")}
        </Button>
        <span className="flex-1" />
        <Button
          size="small"
          variant="ghost"
          icon={<Braces size={13} aria-hidden />}
          title={t("forms.types.open")}
          onClick={() => showTypes()}
        >
          {t("forms.types.button")}
        </Button>
      </div>
      <ul
        className="flex-1 min-h-0 overflow-x-hidden overflow-y-auto px-2 pb-3"
        aria-label={t("forms.state.keys")}
      >
        {names.map((name, index) => (
          <KeyRow
            key={index}
            name={name}
            first={index === 0}
            last={index === names.length - 1}
            open={selected === name}
            usage={usage.get(name) ?? NO_USE}
            onToggle={() => select({ key: selected === name ? null : name })}
            onHover={(on) => setHovered(on ? name : null)}
          />
        ))}
      </ul>
    </div>
  );
}
