/** The dialog that gives a version of the graph a name and a note, or takes both away. */
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { FormDialog } from "../../components/FormDialog";
import { TextArea, TextField } from "../../components/TextField";
import { versionsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** What a person writes about a version. */
export interface NameAndNote {
  readonly name: string;
  readonly note: string;
}

export interface NameDialogProps {
  readonly title: string;
  /** What it has already. */
  readonly initial: NameAndNote | null;
  /** `null` takes the name and the note away. */
  onSave(chosen: NameAndNote | null): void;
  onClose(): void;
}

export function NameDialog({ title, initial, onSave, onClose }: NameDialogProps) {
  const [name, setName] = useState(initial?.name ?? "");
  const [note, setNote] = useState(initial?.note ?? "");
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      description={t("versions.nameText")}
      save={t("versions.nameSave")}
      isDone={name.trim() !== ""}
      onSave={() => onSave({ name, note })}
      className="gap-3"
      data-testid={versionsIds.nameDialog}
    >
      <Field label={t("versions.nameField")}>
        <TextField value={name} onChange={setName} data-testid={versionsIds.nameField} />
      </Field>
      <Field label={t("versions.note")}>
        <TextArea
          value={note}
          onChange={setNote}
          minRows={3}
          maxRows={10}
          data-testid={versionsIds.noteField}
        />
      </Field>
      {initial !== null && (
        <Button
          className="self-start"
          size="small"
          variant="ghost"
          onClick={() => onSave(null)}
          data-testid={versionsIds.nameRemove}
        >
          {t("versions.nameRemove")}
        </Button>
      )}
    </FormDialog>
  );
}
