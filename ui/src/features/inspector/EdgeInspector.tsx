/** One edge: what it does in a sentence, its form, its expression, its labels and targets. */
import { ArrowRight, Plus, Trash2, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import type { Expected } from "../../components/code/expression-types";
import { ExpressionField } from "../../components/ExpressionField";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { InlineCode } from "../../components/InlineCode";
import { NameField } from "../../components/schema-form/SchemaBuilder";
import { NumberField } from "../../components/NumberField";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { deleteThings, setField, setMaxVisits } from "../../document/edits";
import { addPath, freeLabel, renamePath, setEdgeForm, setExpression } from "../../document/edge-edits";
import { doc, useIds, useRecord, useDiagnosticsAtRest } from "../../document/store";
import { edit, sealHistory } from "../../document/edit";
import { edgeOf, END, isObject, START, type EdgeForm, type Json } from "../../document/types";
import { formsIds } from "../../lib/testIds";
import { withLangGraph } from "../../lib/langgraph";
import { t, tn } from "../../lib/texts";
import { shortcutOf } from "../../state/keymap";
import { useSession } from "../../state/session";
import { edgeSentence, nodeText } from "./describe";
import { InvariantsSection } from "../invariants";
import { Reconsider } from "../query";
import { LiveValue } from "./LiveValue";
import { useContextVariables, useKeyInfos } from "./keys";
import { beginPlace, leavePlace, useCalmRecord } from "../../state/reduced-motion";
import { problemsOf } from "./problems";
import {
  inspectorEdgeNameClass,
  inspectorHeadClass,
  inspectorSentenceClass,
  itemClass,
  itemsClass,
  sectionClass,
} from "../../components/recipes";

/** What the expression of an edge gives, by its form. */
const EXPECTED: Readonly<Partial<Record<EdgeForm, Expected>>> = {
  when: { is: "condition" },
  each: { is: "value", schema: { type: "array" } },
};

const FORMS: EdgeForm[] = ["plain", "when", "route", "each", "join", "limit"];

export function EdgeInspector({ id }: { id: string }) {
  const recordId = `edge:${id}`;
  const record = useRecord(recordId);
  const diagnostics = useDiagnosticsAtRest(recordId);
  const calm = useCalmRecord(recordId);
  const nodes = useIds("node");
  const keys = useKeyInfos();
  const variables = useContextVariables();
  if (!isObject(record)) return null;
  const edge = edgeOf(record);
  const name = t("forms.edit.theEdge");
  const at = (...pointers: string[]) =>
    problemsOf(diagnostics, (pointer) => pointers.includes(pointer), calm);
  const own = ["/when", "/route", "/each", "/as", "/to", "/from", "/default", "/limit"];
  const rest = problemsOf(
    diagnostics,
    (pointer) => !own.includes(pointer) && !/^\/(paths|with|invariants)\//.test(pointer),
    calm,
  );
  const set = (pointer: string, value: Json | undefined, what: string) =>
    edit(t("forms.edit.field", { what, name }), (document) => setField(document, recordId, pointer, value), {
      merge: `${recordId}${pointer}`,
    });
  const targets = (withEnd: boolean) => [
    ...nodes.map((node) => ({ value: node, label: node })),
    ...(withEnd ? [{ value: END, label: t("forms.end") }] : []),
  ];
  const sourceOptions = [
    { value: START, label: t("forms.start") },
    ...nodes.map((node) => ({ value: node, label: node })),
  ];
  const to = edge.targets[0];

  return (
    <div
      onBlur={(event) => {
        sealHistory();
        const field = event.target.closest("[data-pointer]")?.getAttribute("data-pointer");
        if (typeof field === "string") leavePlace(recordId, field);
      }}
    >
      <section className={sectionClass}>
        <header className={inspectorHeadClass}>
          <h2 className={inspectorEdgeNameClass}>
            {edge.sources.map(nodeText).join(" + ") || "…"}{" "}
            <ArrowRight size={14} aria-label={t("forms.edge.to")} />{" "}
            {edge.form === "route"
              ? tn("forms.edge.targets.one", "forms.edge.targets.many", edge.targets.length)
              : to === undefined
                ? "…"
                : nodeText(to)}
          </h2>
          <IconButton
            size="small"
            variant="danger"
            label={t("forms.inspector.deleteEdge")}
            shortcut={shortcutOf("edit.delete")}
            onClick={() => {
              if (edit(t("forms.edit.deleteEdge"), (document) => deleteThings(document, { edges: [id] }))) {
                useSession.getState().select({});
              }
            }}
          >
            <Trash2 size={14} />
          </IconButton>
        </header>
        <p className={inspectorSentenceClass} data-testid={formsIds.edgeSentence}>
          <InlineCode text={edgeSentence(record)} />
        </p>
        {rest.length > 0 && (
          <Field error={rest} pointer="">
            {null}
          </Field>
        )}
        <Field label={t("forms.edge.form")}>
          <Select
            value={edge.form}
            data-testid={formsIds.edgeForm}
            options={FORMS.map((form) => ({
              value: form,
              label: t(`forms.edge.form.${form}`),
              description: withLangGraph(t(`forms.edge.form.${form}.help`), "edge", form),
              // A route and a condition decide after one node; a join has nothing to wait for at the start, which is
              // visited once.
              disabled: (form === "join" || form === "limit") && edge.sources[0] === START,
            }))}
            onChange={(form) => {
              if (edit(t("forms.edit.edgeForm"), (document) => setEdgeForm(document, id, form)))
                beginPlace(recordId, "");
            }}
          />
        </Field>
      </section>

      <section className={sectionClass}>
        {edge.form === "join" ? (
          <Field label={t("forms.edge.sources")} error={at("/from")} pointer="/from">
            <div className={itemsClass}>
              {edge.sources.map((source, index) => (
                <div key={source} className={itemClass}>
                  <div className="flex-1 min-w-0">
                    <Select
                      aria-label={t("forms.edge.source", { n: index + 1 })}
                      value={source}
                      options={nodes
                        .filter((node) => node === source || !edge.sources.includes(node))
                        .map((node) => ({ value: node, label: node }))}
                      onChange={(next) =>
                        set(
                          "/from",
                          edge.sources.map((other) => (other === source ? next : other)),
                          t("forms.edge.sources"),
                        )
                      }
                    />
                  </div>
                  <IconButton
                    size="small"
                    label={t("forms.schema.removeEntry", { name: source })}
                    disabled={edge.sources.length < 2}
                    onClick={() =>
                      set(
                        "/from",
                        edge.sources.filter((other) => other !== source),
                        t("forms.edge.sources"),
                      )
                    }
                  >
                    <X size={13} />
                  </IconButton>
                </div>
              ))}
              <AddSource
                choices={nodes.filter((node) => !edge.sources.includes(node))}
                onAdd={(node) => set("/from", [...edge.sources, node], t("forms.edge.sources"))}
              />
            </div>
          </Field>
        ) : (
          <Field label={t("forms.edge.from")} error={at("/from")} pointer="/from">
            <Select
              value={edge.sources[0]}
              options={sourceOptions}
              placeholder={t("forms.edge.chooseNode")}
              onChange={(next) => set("/from", next, t("forms.edge.from"))}
            />
          </Field>
        )}

        {(edge.form === "when" || edge.form === "route" || edge.form === "each") && (
          <Field
            label={t(`forms.edge.expression.${edge.form}`)}
            description={t(`forms.edge.expression.${edge.form}.help`)}
            error={at(`/${edge.form}`)}
            pointer={`/${edge.form}`}
          >
            <ExpressionField
              value={edge.expression ?? ""}
              onChange={(next) =>
                edit(
                  t("forms.edit.field", {
                    what: t(`forms.edge.expression.${edge.form as "when" | "route" | "each"}`),
                    name,
                  }),
                  (document) => setExpression(document, id, next),
                  { merge: `${recordId}/${edge.form}` },
                )
              }
              keys={keys}
              variables={variables}
              expected={EXPECTED[edge.form]}
              error={at(`/${edge.form}`)[0]?.message}
              placeholder={t(`forms.edge.expression.${edge.form}.example`)}
              data-testid={formsIds.edgeExpression}
            />
            <LiveValue
              text={edge.expression ?? ""}
              template={false}
              valid={at(`/${edge.form}`).length === 0}
            />
          </Field>
        )}

        {edge.form === "route" ? (
          <RoutePaths id={id} record={record} diagnosticsAt={at} />
        ) : (
          <Field label={t("forms.edge.to")} error={at("/to")} pointer="/to">
            <Select
              value={to}
              options={targets(true)}
              placeholder={t("forms.edge.chooseNode")}
              onChange={(next) => set("/to", next, t("forms.edge.to"))}
            />
          </Field>
        )}

        {edge.form === "limit" && edge.sources[0] !== undefined && (
          <LimitField node={edge.sources[0]} error={at("/limit")} />
        )}
        {edge.form === "each" && (
          <>
            <Field
              label={t("forms.edge.as")}
              description={t("forms.edge.asHelp")}
              error={at("/as")}
              pointer="/as"
            >
              <TextField
                mono
                value={typeof record["as"] === "string" ? record["as"] : ""}
                onChange={(next) => set("/as", next, t("forms.edge.as"))}
              />
            </Field>
            <WithFields record={record} set={set} keys={keys} problemsAt={at} />
          </>
        )}
      </section>
      {(edge.form === "when" || edge.form === "route" || edge.form === "each") && (
        <Reconsider key={`reconsider ${id}`} id={id} expression={edge.expression ?? ""} />
      )}
      <InvariantsSection key={id} record={recordId} keys={keys} />
    </div>
  );
}

/** How often the node may be visited before the edge is taken: a setting of the node. */
function LimitField({ node, error }: { node: string; error: ReturnType<typeof problemsOf> }) {
  const record = useRecord(`node:${node}`);
  const most = isObject(record) ? record["max_visits"] : undefined;
  const what = t("forms.policy.visits");
  return (
    <Field label={what} description={t("forms.policy.visitsHelp")} error={error} pointer="/limit">
      <NumberField
        value={typeof most === "number" ? most : undefined}
        placeholder={t("forms.policy.visitsNone")}
        min={1}
        integer
        onChange={(next) =>
          edit(
            t("forms.edit.field", { what, name: node }),
            (document) => setMaxVisits(document, node, next),
            { merge: `node:${node}/max_visits` },
          )
        }
      />
    </Field>
  );
}

function AddSource({ choices, onAdd }: { choices: readonly string[]; onAdd(node: string): void }) {
  if (choices.length === 0) return null;
  return (
    <Select
      aria-label={t("forms.edge.addSource")}
      value={undefined as string | undefined}
      placeholder={t("forms.edge.addSource")}
      options={choices.map((node) => ({ value: node, label: node }))}
      onChange={(node) => {
        if (node !== undefined) onAdd(node);
      }}
    />
  );
}

function RoutePaths({
  id,
  record,
  diagnosticsAt,
}: {
  id: string;
  record: Record<string, Json>;
  diagnosticsAt(...pointers: string[]): ReturnType<typeof problemsOf>;
}) {
  const nodes = useIds("node");
  const recordId = `edge:${id}`;
  const paths = isObject(record["paths"]) ? record["paths"] : {};
  const name = t("forms.edit.theEdge");
  const options = [
    ...nodes.map((node) => ({ value: node as string, label: node as string })),
    { value: END as string, label: t("forms.end") },
  ];
  const otherwise = typeof record["default"] === "string" ? record["default"] : "";
  const [nextTarget] = useState(END);
  const field = (pointer: string, value: Json | undefined) =>
    edit(t("forms.edit.field", { what: t("forms.edge.paths"), name }), (document) =>
      setField(document, recordId, pointer, value),
    );
  return (
    <>
      <Field
        label={t("forms.edge.paths")}
        description={t("forms.edge.pathsHelp")}
        error={diagnosticsAt("/paths")}
        pointer="/paths"
      >
        <div className={itemsClass}>
          {Object.entries(paths).map(([label, target], index) => (
            <Field
              key={index}
              error={diagnosticsAt(`/paths/${escape(label)}`)}
              pointer={`/paths/${escape(label)}`}
            >
              <div className={itemClass}>
                <div className="flex-1 min-w-0">
                  <NameField
                    label={t("forms.edge.label", { n: index + 1 })}
                    name={label}
                    taken={(other) => other !== label && other in paths}
                    onRename={(next) =>
                      edit(t("forms.edit.label"), (document) => renamePath(document, id, label, next))
                    }
                  />
                </div>
                <ArrowRight size={13} className="shrink-0 mt-2 text-text-3" aria-hidden />
                <div className="flex-1 min-w-0">
                  <Select
                    aria-label={t("forms.edge.targetOf", { label })}
                    value={typeof target === "string" ? target : undefined}
                    options={options}
                    onChange={(next) => field(`/paths/${escape(label)}`, next)}
                  />
                </div>
                <div className="flex shrink-0 pt-0.75">
                  <IconButton
                    size="small"
                    label={t("forms.schema.removeEntry", { name: label })}
                    onClick={() => field(`/paths/${escape(label)}`, undefined)}
                  >
                    <X size={13} />
                  </IconButton>
                </div>
              </div>
            </Field>
          ))}
          <div>
            <Button
              size="small"
              icon={<Plus size={13} aria-hidden />}
              onClick={() =>
                edit(t("forms.edit.addLabel"), (document) =>
                  addPath(document, id, freeLabel(doc, id, t("forms.edge.newLabel")), nextTarget),
                )
              }
            >
              {t("forms.edge.addLabel")}
            </Button>
          </div>
        </div>
      </Field>
      <Field
        label={t("forms.edge.default")}
        description={t("forms.edge.defaultHelp")}
        error={diagnosticsAt("/default")}
        pointer="/default"
      >
        <Select
          value={otherwise}
          options={[{ value: "", label: t("forms.edge.noDefault") }, ...options]}
          onChange={(next) => field("/default", next === "" ? undefined : next)}
        />
      </Field>
    </>
  );
}

function escape(label: string): string {
  return label.replaceAll("~", "~0").replaceAll("/", "~1");
}

function WithFields({
  record,
  set,
  keys,
  problemsAt,
}: {
  record: Record<string, Json>;
  set(pointer: string, value: Json | undefined, what: string): void;
  keys: ReturnType<typeof useKeyInfos>;
  problemsAt(...pointers: string[]): ReturnType<typeof problemsOf>;
}) {
  const extra = isObject(record["with"]) ? record["with"] : {};
  const variables = useContextVariables();
  const what = t("forms.edge.with");
  return (
    <Field label={what} description={t("forms.edge.withHelp")} pointer="/with">
      <div className={itemsClass}>
        {Object.entries(extra).map(([name, expression], index) => (
          <Field key={index} error={problemsAt(`/with/${escape(name)}`)} pointer={`/with/${escape(name)}`}>
            <div className={itemClass}>
              <div className="w-[34%] shrink-0">
                <NameField
                  label={t("forms.edge.withName", { n: index + 1 })}
                  name={name}
                  taken={(other) => other !== name && other in extra}
                  onRename={(next) =>
                    set(
                      "/with",
                      Object.fromEntries(
                        Object.entries(extra).map(([key, item]) => [key === name ? next : key, item]),
                      ),
                      what,
                    )
                  }
                />
              </div>
              <div className="flex-1 min-w-0">
                <ExpressionField
                  aria-label={t("forms.editor.valueOf", { name })}
                  value={typeof expression === "string" ? expression : JSON.stringify(expression)}
                  onChange={(next) => set(`/with/${escape(name)}`, next, what)}
                  keys={keys}
                  variables={variables}
                />
              </div>
              <div className="flex shrink-0 pt-0.75">
                <IconButton
                  size="small"
                  label={t("forms.schema.removeEntry", { name })}
                  onClick={() => set(`/with/${escape(name)}`, undefined, what)}
                >
                  <X size={13} />
                </IconButton>
              </div>
            </div>
          </Field>
        ))}
        <div>
          <Button
            size="small"
            icon={<Plus size={13} aria-hidden />}
            onClick={() => {
              const free = keys.find((key) => !(key.name in extra));
              let name = free?.name ?? "value";
              for (let n = 2; name in extra; n += 1) name = `value_${n}`;
              set(`/with/${escape(name)}`, free === undefined ? "" : `state.${free.name}`, what);
            }}
          >
            {t("forms.edge.addWith")}
          </Button>
        </div>
      </div>
    </Field>
  );
}
