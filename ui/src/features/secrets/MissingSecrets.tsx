/** One line for each secret that has no value, with the way to enter one. */
import { TriangleAlert } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { SecretDialog } from "./SecretDialog";
import { secretOf, useSecrets } from "./useSecrets";

export function MissingSecrets({ names }: { names: readonly string[] }) {
  const { list } = useSecrets(names);
  const [editing, setEditing] = useState<string | null>(null);
  const missing = list === null ? [] : names.filter((name) => missed(secretOf(list, name)));
  return (
    <>
      {missing.map((name) => (
        <p
          key={name}
          className="flex flex-wrap items-center gap-x-2 text-xs text-asking wrap-anywhere"
          role="status"
          data-testid={safetyIds.secretMissing(name)}
        >
          <TriangleAlert size={13} aria-hidden className="shrink-0" />
          <span>{t("secrets.missing", { name })}</span>
          <Button size="small" onClick={() => setEditing(name)} data-testid={safetyIds.secretEnter(name)}>
            {t("secrets.enter")}
          </Button>
        </p>
      ))}
      {editing !== null && <SecretDialog name={editing} onClose={() => setEditing(null)} />}
    </>
  );
}

/** A name that was not asked about yet is not known to have none. */
const missed = (secret: { readonly from?: unknown } | undefined): boolean =>
  secret !== undefined && secret.from === undefined;
