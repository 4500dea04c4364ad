/** How a graph comes into the open one: beside its nodes, in their place, or as a graph of its own. */
import { useId, useState } from "react";
import { merge, useComing, type Coming } from "../../canvas/importing";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { hintClass } from "../../components/recipes";
import { listed } from "../../lib/intl";
import { structureIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";

type How = "beside" | "update" | "open";

const close = () => useComing.setState({ coming: null });

/** Names in a text, not all of them when they are many. */
function some(names: readonly string[]): string {
  const shown = names.slice(0, 4).map((name) => `“${name}”`);
  const more = names.length - shown.length;
  return listed(more > 0 ? [...shown, t("import.more", { n: more })] : shown);
}

export function ImportDialog() {
  const coming = useComing((state) => state.coming);
  return coming === null ? null : <Import coming={coming} />;
}

function Import({ coming }: { coming: Coming }) {
  const { nodes, keys } = coming.clashes;
  const [how, setHow] = useState<How>("beside");
  const options: readonly (readonly [How, string])[] = [
    ["beside", t("import.besideHelp")],
    ...(nodes.length > 0
      ? [
          [
            "update",
            tn("import.updateOne", "import.updateMany", nodes.length, { names: some(nodes) }),
          ] as const,
        ]
      : []),
    ...(coming.open ? [["open", t("import.openHelp")] as const] : []),
  ];
  const confirm = () => {
    close();
    if (how === "open") coming.open?.();
    else merge(coming, how);
  };
  return (
    <Dialog
      open
      onClose={close}
      title={t("import.title", { name: coming.name })}
      size="small"
      data-testid={structureIds.importDialog}
      actions={
        <>
          <Button onClick={close}>{t("forms.cancel")}</Button>
          <Button variant="primary" onClick={confirm} data-testid={structureIds.importConfirm}>
            {t("import.confirm")}
          </Button>
        </>
      }
    >
      <fieldset className="flex flex-col gap-2.5">
        <legend className="sr-only">{t("import.how")}</legend>
        {options.map(([id, help]) => (
          <Option key={id} id={id} help={help} chosen={how === id} onChoose={() => setHow(id)} />
        ))}
      </fieldset>
      {keys.length > 0 && <p className={`${hintClass} pt-3`}>{t("import.keys", { names: some(keys) })}</p>}
    </Dialog>
  );
}

function Option({
  id,
  help,
  chosen,
  onChoose,
}: {
  id: How;
  help: string;
  chosen: boolean;
  onChoose(): void;
}) {
  const described = useId();
  return (
    <div className="grid grid-cols-[auto_1fr] items-start gap-x-2">
      <label className="contents">
        <input
          type="radio"
          name="import-how"
          className="mt-0.5 size-3.5 accent-accent"
          checked={chosen}
          onChange={onChoose}
          aria-describedby={described}
          data-testid={structureIds.importHow(id)}
        />
        <span>{t(`import.${id}`)}</span>
      </label>
      <p id={described} className={`${hintClass} col-start-2`}>
        {help}
      </p>
    </div>
  );
}
