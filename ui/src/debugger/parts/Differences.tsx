/** Differences between two states, by key, as deep as they go; text differs by word. */
import { Ellipsis } from "lucide-react";
import { useMemo, useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { Menu, type MenuEntry } from "../../components/Menu";
import type { Difference } from "../../ipc/bindings/Difference";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { debugIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import type { ComparedMoment } from "../../state/session";
import { groupDifferences, insideKey, likeness, readablePath, wordDiff } from "./diff";
import { preview } from "./format";
import { json, Pre } from "./Pre";
import { WordDiff } from "./WordDiff";

interface Sides {
  left: ComparedMoment;
  right: ComparedMoment;
}

const TONE = {
  added: "done",
  appended: "done",
  removed: "failed",
  changed: "neutral",
  same: "neutral",
  moved: "neutral",
} as const;

interface Actions {
  /** What can be done with a difference, where something can. */
  entries?(difference: Difference): MenuEntry[];
}

export function Differences({
  differences,
  ...sides
}: Sides & Actions & { differences: readonly Difference[] }) {
  const groups = useMemo(() => groupDifferences(differences), [differences]);
  return groups.map((group) => (
    <div key={group.key} className="border-b border-line [content-visibility:auto]">
      <Fold
        begin
        head={
          <>
            <span className="font-mono text-xs font-semibold">{group.key}</span>
            <span className="tabular-nums text-2xs text-text-3">
              {tn("debug.compare.differenceOne", "debug.compare.differences", group.differences.length)}
            </span>
          </>
        }
      >
        {() =>
          group.differences.map((difference) => (
            <Row key={`${difference.change} ${difference.pointer}`} difference={difference} {...sides} />
          ))
        }
      </Fold>
    </div>
  ));
}

function Row({ difference, left, right, entries }: Sides & Actions & { difference: Difference }) {
  const [whole, setWhole] = useState<{ left?: unknown; right?: unknown } | null>(null);
  const path = insideKey(difference.pointer);
  const moved = difference.change === "moved";
  const before = whole && "left" in whole ? whole.left : difference.left?.value;
  const after = whole && "right" in whole ? whole.right : difference.right?.value;
  const cut =
    (difference.left !== undefined && before === undefined) ||
    (difference.right !== undefined && after === undefined);
  // Two texts that have little in common are easier to read side by side.
  const alike = useMemo(
    () =>
      typeof before === "string" &&
      typeof after === "string" &&
      (before.length > 40 || after.length > 40) &&
      likeness(wordDiff(before, after)) > 0.33,
    [before, after],
  );
  const load = async () => {
    const read = async (
      side: ValueView | undefined,
      { threadId, checkpointId }: ComparedMoment,
      pointer: string,
    ) =>
      side === undefined
        ? undefined
        : ((
            await rpc("thread.value", {
              threadId,
              ...(checkpointId !== null && { checkpointId }),
              pointer,
              offset: 0,
              limit: 0,
            })
          ).value as unknown);
    const [a, b] = await Promise.all([
      read(difference.left, left, difference.leftPointer ?? difference.pointer),
      read(difference.right, right, difference.pointer),
    ]);
    setWhole({ ...(difference.left && { left: a }), ...(difference.right && { right: b }) });
  };
  const loads = cut && !moved;
  // The whole value of a key has no head: what can be done with it stands beside it.
  const bare = path === "" && difference.change === "changed" && !loads;
  const menu = entries && (
    <span className="ml-auto shrink-0">
      <Menu
        align="end"
        trigger={
          <IconButton size="small" label={t("debug.more")} data-testid={debugIds.differenceMenu}>
            <Ellipsis size={14} aria-hidden />
          </IconButton>
        }
        entries={() => entries(difference)}
      />
    </span>
  );
  return (
    <div
      className="px-3 pb-2 pl-7"
      data-testid={debugIds.difference}
      data-pointer={difference.pointer}
      data-change={difference.change}
    >
      {!bare && (
        <div className="flex items-center gap-2 py-0.5">
          {path !== "" && (
            <span className="font-mono text-xs text-text-2 [overflow-wrap:anywhere]">
              {readablePath(path)}
            </span>
          )}
          {difference.change !== "changed" && (
            <Badge tone={TONE[difference.change]}>
              {difference.change === "moved"
                ? t("debug.change.movedFrom", {
                    place: readablePath(insideKey(difference.leftPointer ?? "")),
                  })
                : t(`debug.change.${difference.change}`)}
            </Badge>
          )}
          {loads && (
            <Button size="small" variant="ghost" onClick={() => void load()}>
              {t("debug.compare.load")}
            </Button>
          )}
          {menu}
        </div>
      )}
      <div className={bare ? "flex items-start gap-2" : undefined}>
        <div className="min-w-0 flex-1">
          {moved ? null : alike ? (
            <WordDiff before={String(before)} after={String(after)} />
          ) : (
            <div className="grid grid-cols-2 gap-2">
              <Side view={difference.left} value={before} tone="removed" />
              <Side view={difference.right} value={after} tone="added" />
            </div>
          )}
        </div>
        {bare && menu}
      </div>
    </div>
  );
}

function Side({
  view,
  value,
  tone,
}: {
  view: ValueView | undefined;
  value: unknown;
  tone: "added" | "removed";
}) {
  if (view === undefined)
    return (
      <div className="rounded-sm border border-dashed border-line px-2 py-1 text-xs text-text-3">
        {t("debug.compare.absent")}
      </div>
    );
  const text =
    value === undefined
      ? `${view.head ?? ""}…`
      : typeof value === "string"
        ? value
        : typeof value === "object" && value !== null
          ? json(value)
          : preview(value);
  return <Pre tone={tone}>{text}</Pre>;
}
