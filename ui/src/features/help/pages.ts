/** The page that F1 opens: what is selected, what it does, and what LangGraph calls it. Made of what the forms say. */
import { labelOf } from "../../components/schema-form/labels";
import type { Schema } from "../../components/schema-form/schema";
import type { GraphDocument } from "../../document/document";
import { errorNode } from "../../document/error-ways";
import { edgeOf, END, isObject, nodeOf, START, type EdgeForm } from "../../document/types";
import type { NodeKind } from "../../ipc/bindings/NodeKind";
import { number } from "../../lib/intl";
import { langGraphWords } from "../../lib/langgraph";
import { t, type TextKey } from "../../lib/texts";
import type { Selection } from "../../state/session";
import { CHANNELS, REDUCERS } from "../state-schema";

export interface HelpRow {
  readonly term: string;
  /** Its name in the file. */
  readonly code?: string;
  readonly text: string;
  /** LangGraph's words for it. */
  readonly words?: readonly string[];
  /** Is it what the selected thing is now? */
  readonly chosen?: boolean;
}

interface HelpSection {
  readonly title?: string;
  readonly rows?: readonly HelpRow[];
  /** Ids of commands, shown with their keys. */
  readonly commands?: readonly string[];
}

export interface HelpPage {
  readonly title: string;
  readonly text: string;
  /** What it is also found by. */
  readonly aliases?: readonly string[];
  readonly words?: readonly string[];
  readonly sections: readonly HelpSection[];
}

/** The page about a selection; `keys` are those that open it. */
export function helpOf(
  doc: GraphDocument,
  selection: Selection,
  kinds: readonly NodeKind[],
  keys: string,
): HelpPage {
  const { nodes, edges, key } = selection;
  const count = nodes.length + edges.length;
  if (count > 1) return manyPage(count);
  const [node] = nodes;
  if (node === START || node === END) return endPage(node);
  const kind = node === undefined ? undefined : nodeOf(doc.get(`node:${node}`)).kind;
  const known = kinds.find((each) => each.kind === kind);
  if (known) return kindPage(known);
  const [edge] = edges;
  if (edge !== undefined) {
    if (errorNode(doc, edge) !== null) return edgePage("error");
    const record = doc.get(`edge:${edge}`);
    if (record !== undefined) return edgePage(edgeOf(record).form);
  }
  const record = key === null ? undefined : doc.get(`key:${key}`);
  if (key !== null && isObject(record)) return keyPage(key, record);
  return graphPage(keys);
}

function kindPage(kind: NodeKind): HelpPage {
  const fields = Object.entries((kind.configSchema as Schema).properties ?? {});
  return {
    title: kind.title,
    text: kind.summary,
    aliases: kind.aliases,
    words: langGraphWords("kind", kind.kind),
    sections: [
      {
        rows: fields.flatMap(([name, property]) =>
          typeof property === "boolean"
            ? []
            : [{ term: labelOf(name, property), code: name, text: property.description ?? "" }],
        ),
      },
    ],
  };
}

function endPage(name: typeof START | typeof END): HelpPage {
  const [title, text] =
    name === START
      ? (["help.end.start", "forms.inspector.startHelp"] as const)
      : (["help.end.end", "forms.inspector.endHelp"] as const);
  return { title: t(title), text: t(text), words: langGraphWords("end", name), sections: [] };
}

type Form = EdgeForm | "error";

const EDGE_FORMS: readonly Form[] = ["plain", "when", "route", "each", "join", "limit", "error"];
const formName = (form: Form) => t(form === "error" ? "help.edge.error.name" : `forms.edge.form.${form}`);

/** Settings of an edge of a form: label and help. */
const SETTINGS: Readonly<Partial<Record<Form, readonly (readonly [TextKey, TextKey, string])[]>>> = {
  when: [["forms.edge.expression.when", "forms.edge.expression.when.help", "when"]],
  route: [
    ["forms.edge.expression.route", "forms.edge.expression.route.help", "route"],
    ["forms.edge.paths", "forms.edge.pathsHelp", "paths"],
  ],
  each: [
    ["forms.edge.expression.each", "forms.edge.expression.each.help", "each"],
    ["forms.edge.as", "forms.edge.asHelp", "as"],
    ["forms.edge.with", "forms.edge.withHelp", "with"],
  ],
};

function edgePage(form: Form): HelpPage {
  const settings = SETTINGS[form] ?? [];
  return {
    title: t("help.edge", { form: formName(form) }),
    text: t(`help.edge.${form}`),
    words: langGraphWords("edge", form),
    sections: [
      ...(settings.length === 0
        ? []
        : [
            {
              title: t("help.edge.settings"),
              rows: settings.map(([term, text, code]) => ({ term: t(term), text: t(text), code })),
            },
          ]),
      { title: t("help.edge.forms"), rows: formRows(form) },
    ],
  };
}

const formRows = (chosen?: Form): HelpRow[] =>
  EDGE_FORMS.map((form) => ({
    term: formName(form),
    text: t(form === "error" ? "help.edge.error" : `forms.edge.form.${form}.help`),
    words: langGraphWords("edge", form),
    chosen: form === chosen,
  }));

const reducerRow = (name: string, chosen?: string): HelpRow => ({
  term: t(`forms.reducer.${name}` as TextKey),
  code: name,
  text: t(`forms.reducer.${name}.help` as TextKey),
  words: langGraphWords("reducer", name),
  chosen: name === chosen,
});

const channelRow = (name: string, chosen?: string): HelpRow => ({
  term: t(`forms.channel.${name}` as TextKey),
  // What is kept has no `channel` in the file.
  ...(name !== "kept" && { code: name }),
  text: t(`forms.channel.${name}.help` as TextKey),
  words: langGraphWords("channel", name),
  chosen: name === chosen,
});

function keyPage(name: string, record: { readonly [field: string]: unknown }): HelpPage {
  const { type, channel = "kept", reducer = "overwrite", description } = record;
  const fits = REDUCERS.filter(
    ([each, types]) => each === reducer || types === null || typeof type !== "string" || types.includes(type),
  );
  const alone = channel !== "kept";
  return {
    title: t("help.key", { name }),
    text: typeof description === "string" && description !== "" ? description : t("help.key.text"),
    sections: [
      {
        title: t("help.key.reducers"),
        rows: alone
          ? [{ term: t("forms.state.reducer"), text: t("help.key.channelAlone") }]
          : fits.map(([each]) => reducerRow(each, String(reducer))),
      },
      {
        title: t("help.key.lifetimes"),
        rows: CHANNELS.map((each) => channelRow(each, String(channel))),
      },
    ],
  };
}

function manyPage(count: number): HelpPage {
  return {
    title: t("forms.many.title", { count: number(count) }),
    text: t("help.many.text"),
    sections: [
      {
        title: t("help.many.structure"),
        commands: ["graph.extract", "graph.saveBlock", "edit.frame", "edit.disable"],
      },
      {
        title: t("help.many.arrange"),
        commands: [
          "align.left",
          "align.center",
          "align.right",
          "align.top",
          "align.middle",
          "align.bottom",
          "align.across",
          "align.down",
          "view.layoutSelection",
        ],
      },
      {
        title: t("help.many.edit"),
        commands: ["edit.copy", "edit.cut", "edit.duplicate", "edit.delete", "edit.deleteJoin"],
      },
      {
        title: t("help.many.select"),
        commands: ["select.upstream", "select.downstream", "select.connected", "edit.selectAll"],
      },
    ],
  };
}

function graphPage(keys: string): HelpPage {
  return {
    title: t("help.none"),
    text: t("help.none.text", { keys }),
    words: langGraphWords("kind", "graph"),
    sections: [
      { title: t("help.none.build"), commands: ["edit.addNode", "view.layout", "edit.undo", "find.open"] },
      {
        title: t("help.none.run"),
        commands: ["run.start", "run.step", "debug.breakpoint", "help.shortcuts"],
      },
      { title: t("help.edge.forms"), rows: formRows() },
      { title: t("help.key.reducers"), rows: REDUCERS.map(([each]) => reducerRow(each)) },
      { title: t("help.key.lifetimes"), rows: CHANNELS.map((each) => channelRow(each)) },
    ],
  };
}
