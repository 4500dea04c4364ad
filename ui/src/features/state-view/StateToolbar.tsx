/** The search over the state, and the switch that shows only what changed. */
import { Search, X } from "lucide-react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { TextField } from "../../components/TextField";
import type { KeyView } from "../../ipc/bindings/KeyView";
import { listed } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

interface Props {
  readonly keys: readonly KeyView[];
  /** Keys that are too big to be searched before they are opened. */
  readonly unsearched: readonly KeyView[];
  readonly search: string;
  setSearch(search: string): void;
  readonly onlyChanged: boolean;
  setOnlyChanged(only: boolean): void;
}

export function StateToolbar({ keys, unsearched, search, setSearch, onlyChanged, setOnlyChanged }: Props) {
  const changed = keys.filter((key) => key.change !== "same").length;
  return (
    <>
      <div className="flex items-center gap-1 px-3 pb-2">
        <TextField
          className="min-w-0 flex-1"
          value={search}
          onChange={setSearch}
          placeholder={t("debug.state.search")}
          aria-label={t("debug.state.search")}
          data-testid={debugIds.stateSearch}
          prefix={<Search size={13} aria-hidden />}
          {...(search !== "" && {
            suffix: (
              <IconButton size="small" label={t("debug.clear")} onClick={() => setSearch("")}>
                <X size={13} aria-hidden />
              </IconButton>
            ),
          })}
        />
        <Button
          size="small"
          variant={onlyChanged ? "secondary" : "ghost"}
          aria-pressed={onlyChanged}
          onClick={() => setOnlyChanged(!onlyChanged)}
        >
          {t("debug.state.changedN", { n: changed })}
        </Button>
      </div>
      {unsearched.length > 0 && (
        <p className="px-3 pb-2 text-xs text-text-2">
          {t("debug.state.unsearched", { keys: listed(unsearched.map((key) => key.key)) })}
        </p>
      )}
    </>
  );
}
