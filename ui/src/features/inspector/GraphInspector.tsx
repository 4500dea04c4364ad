/** Nothing is selected: the graph itself, its sample inputs, and what its README says. */
import { ChevronDown, ChevronRight, Plus, RotateCcw, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { Markdown } from "../../components/Markdown";
import { NumberField } from "../../components/NumberField";
import type { Schema } from "../../components/schema-form/schema";
import { SchemaForm } from "../../components/schema-form/SchemaForm";
import { TemplateField } from "../../components/TemplateField";
import { TextArea, TextField } from "../../components/TextField";
import { setField } from "../../document/edits";
import {
  doc,
  useDocumentState,
  useDocumentVersion,
  useIds,
  useRecord,
  useDiagnosticsAtRest,
} from "../../document/store";
import { edit, sealHistory } from "../../document/edit";
import { isObject, type Json, type JsonObject } from "../../document/types";
import { fullTime } from "../../lib/intl";
import { t, tn } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { InvariantsSection } from "../invariants";
import { ContextSection } from "./ContextSection";
import { useKeyInfos } from "./keys";
import { useWaits } from "../../canvas/waiting-problems";
import { problemsOf } from "./problems";
import { withoutTitle } from "./readme";
import {
  cardBodyClass,
  cardClass,
  cardHeadClass,
  cardTitleClass,
  cardToggleClass,
  helpClass,
  sectionClass,
  sectionTitleClass,
} from "../../components/recipes";
import { cx } from "../../components/cx";
import { formsIds } from "../../lib/testIds";

const DEFAULT_LIMIT = 1000;

export function GraphInspector() {
  const head = useRecord("doc");
  const diagnostics = useDiagnosticsAtRest("doc");
  const waits = useWaits();
  const path = useDocumentState((state) => state.path);
  const readme = useDocumentState((state) => state.readme);
  const nodes = useIds("node");
  const edges = useIds("edge");
  const keys = useKeyInfos();
  if (!isObject(head)) return null;
  const text = (field: string) => (typeof head[field] === "string" ? head[field] : "");
  const set = (field: string, value: Json | undefined, what: string) =>
    edit(t("forms.edit.graphField", { what }), (document) => setField(document, "doc", `/${field}`, value), {
      merge: `doc/${field}`,
    });
  const at = (pointer: string) => problemsOf(diagnostics, (other) => other === pointer);
  const own = ["/name", "/description", "/recursion_limit", "/summary"];
  const rest = problemsOf(
    diagnostics.filter((problem) => !waits(problem)),
    (pointer) => !own.includes(pointer) && !/^\/(examples|invariants)/.test(pointer),
  );
  return (
    <div onBlur={sealHistory}>
      <RecoveredNote />
      <section className={sectionClass}>
        <Field label={t("forms.graph.name")} error={at("/name")} pointer="/name">
          <TextField
            value={text("name")}
            onChange={(next) => set("name", next, t("forms.graph.name"))}
            data-testid={formsIds.inspectorGraphName}
          />
        </Field>
        <Field label={t("forms.graph.description")} error={at("/description")} pointer="/description">
          <TextArea
            value={text("description")}
            minRows={2}
            placeholder={t("forms.graph.descriptionPlaceholder")}
            onChange={(next) =>
              set("description", next === "" ? undefined : next, t("forms.graph.description"))
            }
          />
        </Field>
        <Field
          label={t("forms.graph.limit")}
          description={t("forms.graph.limitHelp")}
          error={at("/recursion_limit")}
          pointer="/recursion_limit"
        >
          <NumberField
            integer
            min={1}
            value={typeof head["recursion_limit"] === "number" ? head["recursion_limit"] : undefined}
            placeholder={String(DEFAULT_LIMIT)}
            onChange={(next) => set("recursion_limit", next, t("forms.graph.limit"))}
          />
        </Field>
        <Field
          label={t("forms.summary")}
          description={t("forms.summary.graphHelp")}
          error={at("/summary")}
          pointer="/summary"
        >
          <TemplateField
            value={text("summary")}
            keys={keys}
            minLines={2}
            maxLines={8}
            placeholder={t("forms.summary.placeholder")}
            data-testid={formsIds.summary}
            onChange={(next) => set("summary", next === "" ? undefined : next, t("forms.summary"))}
          />
        </Field>
        {rest.length > 0 && (
          <Field error={rest} pointer="">
            {null}
          </Field>
        )}
        <p className={helpClass}>
          {tn("forms.many.node", "forms.many.nodes", nodes.length)},{" "}
          {tn("forms.many.edge", "forms.many.edges", edges.length)}.{" "}
          {path === null ? t("forms.graph.draft") : path}
        </p>
      </section>
      <InvariantsSection record="doc" keys={keys} />
      <ContextSection head={head} problems={diagnostics} />
      <Examples head={head} problems={diagnostics} />
      {readme !== null && readme.trim() !== "" && (
        <section className={sectionClass}>
          <h3 className={sectionTitleClass}>{t("forms.graph.readme")}</h3>
          <Markdown text={withoutTitle(readme, text("name"))} />
        </section>
      )}
    </div>
  );
}

/** Says that unsaved work of an earlier session is back, and how to get rid of it. */
function RecoveredNote() {
  const recoveredAt = useDocumentState((state) => state.recoveredAt);
  const path = useDocumentState((state) => state.path);
  const dirty = useDocumentState((state) => state.dirty);
  if (recoveredAt === null || !dirty) return null;
  return (
    <section className={cx(sectionClass, "bg-asking-soft text-xs/[17px]")}>
      <p>{t("forms.graph.recovered", { time: fullTime(recoveredAt) })}</p>
      {path !== null && (
        <div>
          <Button
            size="small"
            icon={<RotateCcw size={13} aria-hidden />}
            onClick={() => runCommand("graph.revert")}
          >
            {t("forms.graph.discardRecovered")}
          </Button>
        </div>
      )}
    </section>
  );
}

/** The schema of an input: the keys that an input may set. */
function inputSchema(): Schema {
  const allowed = doc.head["input"];
  const names = doc.names("key").filter((name) => !Array.isArray(allowed) || allowed.includes(name));
  const properties: Record<string, Schema> = {};
  for (const name of names) {
    const record = doc.get(`key:${name}`);
    if (!isObject(record)) continue;
    const { reducer, channel: _channel, invariants: _invariants, ...schema } = record;
    properties[name] = {
      ...(schema as Schema),
      title: name,
      ...(reducer === "add_messages" && { "x-editor": "messages" }),
    };
    // A default of the state is what is there without an input; the form shows it, but need not send it.
  }
  return { type: "object", properties };
}

function Examples({
  head,
  problems,
}: {
  head: JsonObject;
  problems: ReturnType<typeof useDiagnosticsAtRest>;
}) {
  const version = useDocumentVersion();
  const [open, setOpen] = useState<number | null>(null);
  const list = Array.isArray(head["examples"]) ? head["examples"] : [];
  void version;
  const put = (next: Json[], what: string) =>
    edit(what, (document) => setField(document, "doc", "/examples", next.length === 0 ? undefined : next), {
      merge: "doc/examples",
    });
  const schema = inputSchema();
  return (
    <section className={sectionClass}>
      <div className={sectionTitleClass}>
        <h3>{t("forms.examples.title")}</h3>
        <Button
          size="small"
          icon={<Plus size={13} aria-hidden />}
          onClick={() => {
            put(
              [...list, { name: t("forms.examples.newName", { n: list.length + 1 }), input: {} }],
              t("forms.edit.addExample"),
            );
            setOpen(list.length);
          }}
        >
          {t("forms.schema.add")}
        </Button>
      </div>
      {list.length === 0 && <p className={helpClass}>{t("forms.examples.none")}</p>}
      {list.map((example, index) => {
        const record = isObject(example) ? example : {};
        const name = typeof record["name"] === "string" ? record["name"] : "";
        const change = (field: string, value: Json) =>
          put(
            list.map((other, at) => (at === index ? { ...record, [field]: value } : other)),
            t("forms.edit.example"),
          );
        const isOpen = open === index;
        return (
          <div key={index} className={cardClass} data-pointer={`/examples/${index}`}>
            <div className={cardHeadClass}>
              <button
                type="button"
                className={cardToggleClass}
                aria-expanded={isOpen}
                onClick={() => setOpen(isOpen ? null : index)}
              >
                {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
                <span className={cardTitleClass}>{name === "" ? t("forms.examples.unnamed") : name}</span>
              </button>
              <IconButton
                size="small"
                label={t("forms.schema.removeEntry", { name })}
                onClick={() =>
                  put(
                    list.filter((_, at) => at !== index),
                    t("forms.edit.removeExample"),
                  )
                }
              >
                <X size={13} />
              </IconButton>
            </div>
            {isOpen && (
              <div className={cardBodyClass}>
                <Field label={t("forms.examples.name")}>
                  <TextField value={name} onChange={(next) => change("name", next)} />
                </Field>
                <SchemaForm
                  schema={schema}
                  value={record["input"] ?? {}}
                  onChange={(next: Json | undefined) => change("input", next ?? {})}
                  title={t("forms.examples.input")}
                  pointerPrefix={`/examples/${index}/input`}
                  errors={problems
                    .filter((problem) => problem.pointer?.startsWith(`/examples/${index}/input`) === true)
                    .map((problem) => ({
                      ...problem,
                      pointer: problem.pointer!.slice(`/examples/${index}/input`.length),
                    }))}
                />
              </div>
            )}
          </div>
        );
      })}
    </section>
  );
}
