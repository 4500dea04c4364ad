/** The right panel of Debug when no thread is selected: what the next run is given. */
import { RunForm } from "../../debugger/run/RunForm";
import { t } from "../../lib/texts";

export function RunPanel() {
  return (
    <section
      className="flex h-full min-h-0 flex-col short:h-auto short:min-h-full short:shrink-0"
      aria-label={t("debug.input.title")}
    >
      <RunForm />
    </section>
  );
}
