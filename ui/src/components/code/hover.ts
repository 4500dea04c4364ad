/** What an editor says of the name under the pointer: its type, what it is for, and its value in the last run. */
import type { Extension } from "@codemirror/state";
import { hoverTooltip } from "@codemirror/view";
import { t } from "../../lib/texts";
import { brief, type Json } from "../schema-form/json";
import { isProgram } from "./language";
import { namesAt, namesOf } from "./expression-types";
import { infoAt, placeOf, type KeyInfo } from "./jinja";
import { keyInfoOf } from "./key-infos";
import type { EditorOptions } from "./options";

const LONGEST = 80;

/** The path of the name at a position, from its root to that name, and where it stands. */
export function pathAt(
  text: string,
  position: number,
  template: boolean,
): { readonly path: readonly string[]; readonly from: number; readonly to: number } | null {
  const end = position + (/^\w*/.exec(text.slice(position))?.[0].length ?? 0);
  const place = placeOf(text, end, template);
  if (place.at !== "member" && place.at !== "name") return null;
  const name = text.slice(place.from, end);
  if (name === "") return null;
  return { path: place.at === "member" ? [...place.path, name] : [name], from: place.from, to: end };
}

export function hover(options: EditorOptions): Extension {
  const { mode, keys, valueOf } = options;
  if (isProgram(mode) || (mode !== "expression" && mode !== "template")) return [];
  const names = namesOf(keys, options.variables);
  return hoverTooltip(async (view, position) => {
    const text = view.state.doc.toString();
    const found = pathAt(text, position, mode === "template");
    if (!found) return null;
    const seen = mode === "template" ? namesAt(text, position, names) : names;
    const loops = [...seen].flatMap(([name, schema]) =>
      names.get(name) === schema ? [] : keyInfoOf(name, schema),
    );
    const info = infoAt(found.path, keys, [...options.variables, ...loops]);
    const value =
      valueOf !== null && found.path[0] === "state" && found.path.length > 1
        ? await valueOf(found.path.join(".").replaceAll(".[]", "[0]")).catch(() => undefined)
        : undefined;
    if (info === null && value === undefined) return null;
    return {
      pos: found.from,
      end: found.to,
      above: true,
      create: () => ({ dom: drawn(found.path, info, value) }),
    };
  });
}

function drawn(path: readonly string[], info: KeyInfo | null, value: unknown): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-type-hover";
  const line = (words: string) => dom.appendChild(document.createElement("div")).append(words);
  const name = path.join(".").replaceAll(".[]", "[0]");
  line(t("forms.code.hover", { path: name, type: info?.type ?? t("forms.type.any") }));
  if (info?.description !== undefined) line(info.description);
  if (value !== undefined) line(t("forms.code.hoverValue", { value: brief(value as Json, LONGEST) }));
  return dom;
}
