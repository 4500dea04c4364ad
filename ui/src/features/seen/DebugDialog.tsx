/** Where an editor attaches to the code of the attached program, and what VS Code has to be told for it. */
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { CopyButton } from "../../debugger/parts/CopyButton";
import { Pre } from "../../debugger/parts/Pre";
import type { SeenAsked } from "../../state/seen-dialogs";
import { shellIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

export function DebugDialog({ at, onClose }: { at: NonNullable<SeenAsked["code"]>; onClose(): void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title={t("seen.debug.title", { name: at.name })}
      description={t("seen.debug.help")}
      data-testid={shellIds.programDebug}
      actions={<Button onClick={onClose}>{t("forms.close")}</Button>}
    >
      <p>
        {t("seen.debug.address")} <code className="font-mono select-text">{`${at.host}:${at.port}`}</code>
      </p>
      <p className="flex items-center gap-1 pt-2 text-xs text-text-2">
        {t("seen.debug.launch")}
        <CopyButton text={at.launch} label={t("seen.debug.copy")} />
      </p>
      <Pre tone="plain">{JSON.stringify(JSON.parse(at.launch), null, 2)}</Pre>
    </Dialog>
  );
}
