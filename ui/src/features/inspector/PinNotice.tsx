/** What a pinned output means for runs, what it is, and how it ends. */
import { Button } from "../../components/Button";
import { plain } from "../../debugger/parts/format";
import { unpin, usePin } from "../../debugger/run/pins";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

export function PinNotice({ name }: { name: string }) {
  const pin = usePin(name);
  if (pin === undefined) return null;
  return (
    <div
      className="grid gap-2 rounded-md border border-dashed border-line-field p-2.5 text-xs text-text-2"
      data-testid={debugIds.pinNotice}
    >
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1">{t("pins.help")}</p>
        <Button size="small" onClick={() => void unpin(name)} data-testid={debugIds.unpin}>
          {t("pins.unpin")}
        </Button>
      </div>
      <code className="line-clamp-4 wrap-anywhere">{pin.head ?? plain(pin.value, 400)}</code>
    </div>
  );
}
