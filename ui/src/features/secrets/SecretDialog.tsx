/** A secret's value, entered from the field that names it. */
import { Dialog } from "../../components/Dialog";
import { Spinner } from "../../components/Spinner";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { safetyIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { SecretForm } from "./SecretForm";
import { readSecretsAgain, useSecrets } from "./useSecrets";

export interface SecretDialogProps {
  /** The secret; without one, a new one. */
  name?: string | undefined;
  suggested?: string | undefined;
  /** What it is for, where that is known. */
  title?: string | undefined;
  description?: string | undefined;
  onClose(): void;
  onSaved?(name: string): void;
}

export function SecretDialog({ name, suggested, title, description, onClose, onSaved }: SecretDialogProps) {
  const { list, problem } = useSecrets(name === undefined ? [] : [name]);
  return (
    <Dialog
      open
      onClose={onClose}
      title={title ?? (name === undefined ? t("secrets.new") : t("secrets.valueOf", { name }))}
      description={description}
      data-testid={safetyIds.secretDialog}
    >
      {problem && <ProblemNote problem={problem} onRetry={readSecretsAgain} />}
      {list === null ? (
        problem === null && <Spinner label={t("trust.loading")} />
      ) : (
        <SecretForm
          list={list}
          name={name}
          suggested={suggested}
          onClose={onClose}
          onSaved={(saved) => {
            onSaved?.(saved);
            onClose();
          }}
        />
      )}
    </Dialog>
  );
}
