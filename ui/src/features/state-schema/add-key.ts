/** Adds a state key and puts the focus in its name. */
import { uniqueName } from "../../document/edits";
import { addKey } from "../../document/key-edits";
import { doc } from "../../document/store";
import { edit } from "../../document/edit";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

export function addStateKey(): void {
  const name = uniqueName(doc, "key", t("forms.state.newName"));
  if (!edit(t("forms.edit.addKey", { name }), (document) => addKey(document, name, { type: "string" })))
    return;
  const session = useSession.getState();
  session.select({ key: name });
  session.focusField(`key:${name}`);
}
