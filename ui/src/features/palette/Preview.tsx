/** What a pattern or a block is before it is added: its picture, what it does, and what it brings along. */
import { useEffect, useState } from "react";
import { MiniGraph } from "../../canvas/MiniGraph";
import { readBlock, type Block } from "../../document/block-files";
import { RpcProblem } from "../../ipc/client";
import { listed } from "../../lib/intl";
import { formsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import type { Addable } from "./addable";

const MOST = 6;

type Shown = Pick<Addable, "title" | "text"> & Partial<Pick<Addable, "picture" | "add">>;

export const hasPreview = ({ picture, add }: Shown): boolean =>
  picture !== undefined || (add !== undefined && "block" in add);

function namesOf(records: NonNullable<Addable["picture"]>, section: string): string {
  const names = records.flatMap(({ id }) => (id.startsWith(section) ? [id.slice(section.length)] : []));
  const shown = names.slice(0, MOST);
  return listed(names.length > MOST ? [...shown, "…"] : shown);
}

export function Preview({ item }: { item: Shown }) {
  const { picture, add } = item;
  const keys = picture === undefined ? "" : namesOf(picture, "key:");
  return (
    <div className="flex w-70 flex-col gap-1.5 py-1 text-xs/4.5" data-testid={formsIds.palettePreview}>
      <span className="font-medium">{item.title}</span>
      {picture !== undefined && (
        <div className="h-24 rounded-md border border-line bg-canvas p-1.5">
          <MiniGraph records={picture} />
        </div>
      )}
      <span className="text-text-2 text-pretty">{item.text}</span>
      {picture !== undefined && (
        <span className="text-text-3 wrap-anywhere">
          {t("palette.nodes", { names: namesOf(picture, "node:") })}
        </span>
      )}
      {keys !== "" && <span className="text-text-3 wrap-anywhere">{t("palette.keys", { names: keys })}</span>}
      {picture === undefined && add !== undefined && "block" in add && <Reading block={add.block} />}
    </div>
  );
}

/** Reads a block that is looked at, and says what is wrong with its file. */
function Reading({ block }: { block: Block }) {
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let over = false;
    setProblem("");
    readBlock(block).catch((thrown: unknown) => {
      if (!over) setProblem(RpcProblem.from(thrown).message);
    });
    return () => {
      over = true;
    };
  }, [block]);
  return problem === "" ? null : <span className="text-text-3 wrap-anywhere">{problem}</span>;
}
