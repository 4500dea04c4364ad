/** The licences of the work of others that is built in. Read when they are looked at. */
import { useEffect, useState } from "react";
import { Fold } from "../../components/Fold";
import { readNotices } from "../../ipc/notices";
import { t } from "../../lib/texts";

export function Notices() {
  return <Fold head={t("settings.notices")}>{() => <Text />}</Fold>;
}

function Text() {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    readNotices().then(setText, (error: unknown) => setText(String(error)));
  }, []);
  return (
    <pre
      className="max-h-80 p-2 overflow-auto whitespace-pre-wrap text-2xs/[15px] text-text-2 bg-surface-2 select-text"
      tabIndex={0}
      aria-label={t("settings.notices")}
    >
      {text ?? t("settings.notices.loading")}
    </pre>
  );
}
