/** Over the list of the timeline: its branches, the scrubber, and which of its checkpoints are shown. */
import { CircleAlert, FlaskConical, History } from "lucide-react";
import { memo, useState } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { TextField } from "../../components/TextField";
import { Tooltip } from "../../components/Tooltip";
import { hasAsides } from "../../debugger/timeline/without-what-ifs";
import { type Detail, DETAILS } from "../../debugger/timeline/detail";
import type { CheckpointView } from "../../ipc/bindings/CheckpointView";
import { count } from "../../lib/intl";
import { debugIds, whatIfIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { Branches } from "./Branches";
import { goToStep } from "./commands";
import { Playback } from "./Playback";
import { Scrubber } from "./Scrubber";

interface Props {
  /** Every checkpoint that is loaded. */
  readonly all: readonly CheckpointView[];
  /** Those of the list. */
  readonly count: number;
  readonly more: boolean;
  /** null is now. */
  readonly cursor: string | null;
  readonly head: string | undefined;
  readonly branch: readonly string[];
  readonly byId: ReadonlyMap<string, CheckpointView>;
  onMove(checkpointId: string | null): void;
  onCompare(checkpointId: string): void;
  readonly asides: boolean;
  onAsides(shown: boolean): void;
  /** Only what failed or is pending is listed. */
  readonly only: boolean;
  /** How many of them there are, while only they are listed. */
  readonly found: number | null;
  onOnly(only: boolean): void;
  readonly detail: Detail;
  onDetail(detail: Detail): void;
}

export function Bar(props: Props) {
  const { all, cursor, head, branch, byId, onMove, asides, onAsides, only, found, onOnly } = props;
  const checkpoints = tn("debug.timeline.countOne", "debug.timeline.count", props.count);
  const plus = props.more ? "+" : "";
  return (
    <div className="flex h-8 shrink-0 items-center gap-2 px-2">
      <span
        className={`tabular-nums shrink-0 text-2xs text-text-2 @lg:inline ${found === null ? "hidden" : ""}`}
        data-testid={debugIds.timelineCount}
      >
        {found === null
          ? `${checkpoints}${plus}`
          : t("debug.timeline.countOf", { n: count(found), checkpoints: `${checkpoints}${plus}` })}
      </span>
      <Branches list={all} head={head} at={cursor ?? head} onGo={onMove} onCompare={props.onCompare} />
      <Playback disabled={branch.length < 2} />
      <Scrubber branch={branch} byId={byId} at={cursor === head ? null : cursor} onMove={onMove} />
      <GoToStep />
      {hasAsides(all) && (
        <IconButton
          size="small"
          label={t("whatIf.showBranches")}
          pressed={asides}
          onClick={() => onAsides(!asides)}
          data-testid={whatIfIds.showBranches}
        >
          <FlaskConical size={14} aria-hidden />
        </IconButton>
      )}
      <Filters only={only} onOnly={onOnly} detail={props.detail} onDetail={props.onDetail} />
      <Button
        size="small"
        variant={cursor === null ? "ghost" : "secondary"}
        icon={<History size={13} aria-hidden />}
        disabled={cursor === null}
        onClick={() => onMove(null)}
      >
        {t("debug.now")}
      </Button>
    </div>
  );
}

/** Which checkpoints are listed; the same while a key is held that moves the cursor. */
const Filters = memo(function Filters({
  only,
  onOnly,
  detail,
  onDetail,
}: Pick<Props, "only" | "onOnly" | "detail" | "onDetail">) {
  return (
    <>
      <IconButton
        size="small"
        label={t(only ? "debug.timeline.onlyClear" : "debug.timeline.only")}
        pressed={only}
        onClick={() => onOnly(!only)}
        data-testid={debugIds.onlyUnsettled}
      >
        <CircleAlert size={14} aria-hidden />
      </IconButton>
      <DetailSlider detail={detail} onDetail={onDetail} />
    </>
  );
});

/** From one row for each turn to one for each step. */
function DetailSlider({ detail, onDetail }: { detail: Detail; onDetail(detail: Detail): void }) {
  const word = t(`debug.detail.${detail}`);
  return (
    <Tooltip label={t("debug.detail.title", { detail: word })}>
      <label className="flex shrink-0 items-center gap-1.5 text-2xs text-text-2">
        <input
          type="range"
          min={0}
          max={DETAILS.length - 1}
          step={1}
          value={DETAILS.indexOf(detail)}
          aria-label={t("debug.detail")}
          aria-valuetext={word}
          className="h-1 w-14 cursor-ew-resize appearance-none rounded-full bg-line-field [&::-webkit-slider-thumb]:size-3 [&::-webkit-slider-thumb]:appearance-none [&::-webkit-slider-thumb]:rounded-full [&::-webkit-slider-thumb]:bg-accent"
          onChange={(event) => {
            const next = DETAILS[Number(event.currentTarget.value)];
            if (next !== undefined) onDetail(next);
          }}
          data-testid={debugIds.detail}
          data-detail={detail}
        />
        <span className="hidden w-16 truncate @3xl:inline">{word}</span>
      </label>
    </Tooltip>
  );
}

function GoToStep() {
  const [step, setStep] = useState("");
  return (
    <div className="w-24 shrink-0">
      <TextField
        inputMode="numeric"
        aria-label={t("debug.goto")}
        placeholder={t("debug.goto")}
        data-testid={debugIds.gotoStep}
        value={step}
        onChange={(text) => setStep(text.replace(/[^0-9]/g, ""))}
        onCommit={(text) => {
          if (text !== "") void goToStep(Number(text));
          setStep("");
        }}
      />
    </div>
  );
}
