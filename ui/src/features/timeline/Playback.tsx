/** Plays the branch that is shown, at the pace of the run or faster. */
import { Pause, Play } from "lucide-react";
import { memo } from "react";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { setSpeed, SPEEDS, togglePlayback, usePlayback } from "../../debugger/timeline/playback";
import { forksIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";

const OPTIONS = SPEEDS.map((n) => ({ value: String(n), label: t("playback.times", { n }) }));

export const Playback = memo(function Playback({ disabled }: { disabled: boolean }) {
  const { playing, speed } = usePlayback();
  return (
    <div className="flex shrink-0 items-center gap-1">
      <IconButton
        size="small"
        label={t(playing ? "playback.pause" : "playback.play")}
        shortcut={shortcutOf("debug.play")}
        pressed={playing}
        disabled={disabled}
        onClick={togglePlayback}
        data-testid={forksIds.play}
      >
        {playing ? <Pause size={14} aria-hidden /> : <Play size={14} aria-hidden />}
      </IconButton>
      <div className="w-14">
        <Select
          size="small"
          aria-label={t("playback.speed")}
          data-testid={forksIds.speed}
          value={String(speed)}
          options={OPTIONS}
          onChange={(next) => {
            const chosen = SPEEDS.find((each) => String(each) === next);
            if (chosen !== undefined) setSpeed(chosen);
          }}
        />
      </div>
    </div>
  );
});
