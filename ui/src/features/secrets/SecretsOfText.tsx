/** Below a text that may name secrets: those without a value, and a menu that names one. */
import { KeyRound, Plus } from "lucide-react";
import { memo, useState } from "react";
import { Button } from "../../components/Button";
import { Menu, type MenuEntry } from "../../components/Menu";
import type { SecretsOfTextProps } from "../../components/schema-form/form";
import { useStable } from "../../components/stable";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { MissingSecrets } from "./MissingSecrets";
import { referenceTo, referredNames } from "./references";
import { SecretDialog } from "./SecretDialog";
import { useSecrets } from "./useSecrets";

export const SecretsOfText = memo(function SecretsOfText({
  text,
  readOnly,
  offers,
  onInsert,
}: SecretsOfTextProps) {
  const [making, setMaking] = useState(false);
  const names = referredNames(text);
  const insert = useStable((name: string) => onInsert?.(referenceTo(name)));
  const make = useStable(() => setMaking(true));
  return (
    <>
      <MissingSecrets names={names} />
      {offers && !readOnly && <SecretMenu insert={insert} make={make} />}
      {making && <SecretDialog onClose={() => setMaking(false)} onSaved={insert} />}
    </>
  );
});

interface SecretMenuProps {
  insert(name: string): void;
  make(): void;
}

const SecretMenu = memo(function SecretMenu({ insert, make }: SecretMenuProps) {
  const { list } = useSecrets();
  const entries: MenuEntry[] = [
    ...(list?.secrets ?? []).map(({ name, from }) => ({
      id: name,
      label: `${name}  ·  ${t(from === undefined ? "secrets.from.none" : `secrets.from.${from}`)}`,
      icon: <KeyRound size={13} aria-hidden />,
      run: () => insert(name),
    })),
    ...((list?.secrets.length ?? 0) > 0 ? [{ id: "\u0000line", separator: true } as const] : []),
    {
      id: "\u0000new",
      label: t("secrets.newEllipsis"),
      icon: <Plus size={13} aria-hidden />,
      run: make,
    },
  ];
  return (
    <div>
      <Menu
        trigger={
          <Button
            size="small"
            variant="ghost"
            icon={<KeyRound size={13} aria-hidden />}
            data-testid={safetyIds.secretInsert}
          >
            {t("secrets.insert")}
          </Button>
        }
        entries={entries}
      />
    </div>
  );
});
