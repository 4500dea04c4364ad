/** What differs between the version that is shown and another one, or the graph as it is now: by record and field, the layout apart. */
import { ArrowRightLeft } from "lucide-react";
import { useMemo, type ReactNode } from "react";
import { recordsOf, useVersion } from "../../canvas/useVersion";
import { Fold } from "../../components/Fold";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { WordDiff } from "../../debugger/parts/WordDiff";
import { preview } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { byName, diffDocuments, type Change, type FieldChange, type RecordChange } from "../../document/diff";
import type { DocumentRecord } from "../../document/document";
import { pointerParts } from "../../document/pointer";
import { doc, useDocumentVersion } from "../../document/store";
import type { Json } from "../../document/types";
import { listed } from "../../lib/intl";
import { versionsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import { compareWith, type ShownVersion, swapVersions, type VersionName } from "../../state/shown-version";
import { betweenVersions, type Environment, sinceVersion } from "./environment";
import { diffSignClass } from "../../canvas/recipes";

/** Records that are listed; fields of one that are shown, and that are counted. */
const MOST = 200;
const MOST_FIELDS = 6;
const COUNTED_FIELDS = 24;
const SIGNS: Record<Change, string> = { added: "+", removed: "−", changed: "~" };

/** Every field by itself, however deep; records by name, positions in the order of the version, new ones last. */
function differences(older: readonly DocumentRecord[], newer: readonly DocumentRecord[]) {
  const { records, layout } = diffDocuments(older, newer, Number.POSITIVE_INFINITY);
  const order = new Map(older.map(({ id }, index) => [id, index]));
  const at = ({ id }: RecordChange) => order.get(id) ?? older.length;
  return { records: byName(records), layout: layout.toSorted((a, b) => at(a) - at(b)) };
}

interface Props {
  version: ShownVersion;
  /** Those that it can be compared with. */
  versions: readonly VersionName[];
}

export function VersionDiff({ version, versions }: Props) {
  const { content, problem: refused } = useVersion(version.graphId, version.id);
  const { against } = version;
  const other = useVersion(version.graphId, against?.id);
  const problem = refused ?? other.problem;
  const now = useDocumentVersion();
  const diff = useMemo(() => {
    if (content === null || now < 0) return null;
    if (against === undefined) return differences(recordsOf(content), doc.records());
    return other.content === null ? null : differences(recordsOf(content), recordsOf(other.content));
  }, [content, now, against, other.content]);
  if (problem) return <ProblemNote problem={problem} />;
  if (content === null || diff === null) return null;
  const around = other.content === null ? sinceVersion(content) : betweenVersions(content, other.content);
  const same = diff.records.length + around.files.length + around.packages.length === 0;
  const words =
    against === undefined
      ? (["versions.diff.layoutOnly", "versions.diff.none"] as const)
      : (["versions.diff.bothLayoutOnly", "versions.diff.bothNone"] as const);
  return (
    <section className="pb-2 text-xs/4.5" aria-label={t("versions.diff")} data-testid={versionsIds.diff}>
      <div className="flex items-center gap-1 pb-1.5">
        <Select<string>
          size="small"
          className="min-w-0 flex-1"
          aria-label={t("versions.against")}
          data-testid={versionsIds.against}
          value={against?.id ?? ""}
          options={[
            { value: "", label: t("versions.againstCurrent") },
            ...versions.filter(({ id }) => id !== version.id).map(({ id, label }) => ({ value: id, label })),
          ]}
          onChange={(id) => compareWith(versions.find((one) => one.id === id) ?? null)}
        />
        {against !== undefined && (
          <IconButton size="small" label={t("versions.swap")} onClick={swapVersions}>
            <ArrowRightLeft size={13} aria-hidden />
          </IconButton>
        )}
      </div>
      {(content.redacted || other.content?.redacted === true) && (
        <p className="pb-1 text-asking">{t("versions.redacted")}</p>
      )}
      {same && <p className="text-text-2">{t(diff.layout.length > 0 ? words[0] : words[1])}</p>}
      <ul className="flex flex-col">
        {diff.records.slice(0, MOST).map((record) => (
          <RecordLine key={record.id} record={record} />
        ))}
      </ul>
      {diff.records.length > MOST && (
        <p className="text-text-3">{t("versions.diff.more", { n: diff.records.length - MOST })}</p>
      )}
      <Files around={around} />
      {diff.layout.length > 0 && !same && (
        <Fold small head={tn("versions.diff.layoutOne", "versions.diff.layout", diff.layout.length)}>
          {() => (
            <ul>
              {diff.layout.slice(0, MOST).map((record) => (
                <Line key={record.id} mark={record.change} name={record.name} />
              ))}
            </ul>
          )}
        </Fold>
      )}
    </section>
  );
}

function Files({ around: { files, unknown, packages } }: { around: Environment }) {
  return (
    <>
      <ul className="flex flex-col">
        {files.map(({ path, mark }) => (
          <Line key={path} mark={mark} name={path} />
        ))}
        {packages.map(({ name, before, after }) => (
          <Line
            key={name}
            mark={before === undefined ? "added" : after === undefined ? "removed" : "changed"}
            name={`${name} ${[before, after].filter((one) => one !== undefined).join(" → ")}`}
          />
        ))}
      </ul>
      {unknown.length > 0 && (
        <p className="text-text-3">{t("versions.diff.filesUnknown", { files: listed(unknown) })}</p>
      )}
    </>
  );
}

function Line({ mark, name, children }: { mark: Change; name: string; children?: ReactNode }) {
  return (
    <li className="flex items-start gap-1.5 py-1">
      <span className={diffSignClass} data-diff={mark} title={t(`versions.mark.${mark}`)}>
        <span aria-hidden>{SIGNS[mark]}</span>
        <span className="sr-only">{t(`versions.mark.${mark}`)}</span>
      </span>
      <div className="min-w-0 flex-1">
        <span className="font-semibold wrap-anywhere">{name}</span>
        {children}
      </div>
    </li>
  );
}

const WORDS = {
  doc: "versions.diff.graph",
  key: "versions.diff.key",
  node: "versions.diff.node",
  edge: "versions.diff.edge",
} as const;

function RecordLine({ record }: { record: RecordChange }) {
  const select = useSession((session) => session.select);
  const fields = record.fields.slice(0, COUNTED_FIELDS);
  const word = record.section === "layout" ? "" : t(WORDS[record.section]);
  const reveal = () => {
    if (record.section === "node") select({ nodes: [record.name] });
    else if (record.section === "edge") select({ edges: [record.name] });
    else if (record.section === "key") select({ key: record.name });
  };
  return (
    <li
      className="flex items-start gap-1.5 py-1 [&+&]:border-t [&+&]:border-line"
      data-testid={versionsIds.diffLine(record.id)}
      data-mark={record.change}
    >
      <span className={diffSignClass} data-diff={record.change} title={t(`versions.mark.${record.change}`)}>
        <span aria-hidden>{SIGNS[record.change]}</span>
        <span className="sr-only">{t(`versions.mark.${record.change}`)}</span>
      </span>
      <div className="min-w-0 flex-1">
        <p>
          <span className="text-text-3">{word}</span>{" "}
          {record.change === "removed" || record.section === "doc" ? (
            <span className="font-semibold wrap-anywhere">{record.name}</span>
          ) : (
            <button type="button" className="font-semibold wrap-anywhere hover:underline" onClick={reveal}>
              {record.name}
            </button>
          )}
        </p>
        {fields.slice(0, MOST_FIELDS).map((field) => (
          <Field key={field.pointer} {...field} />
        ))}
        {fields.length > MOST_FIELDS && (
          <p className="text-text-3">{t("versions.diff.more", { n: fields.length - MOST_FIELDS })}</p>
        )}
      </div>
    </li>
  );
}

const shown = (value: Json | undefined) =>
  value === undefined ? t("versions.diff.absent") : preview(value, 240);

function Field({ pointer, before, after }: FieldChange) {
  return (
    <div className="pt-0.5">
      <p className="font-mono text-2xs/4 text-text-3">{pointerParts(pointer).join(".")}</p>
      {typeof before === "string" && typeof after === "string" ? (
        <WordDiff before={before} after={after} />
      ) : (
        <p className="font-mono text-2xs/4 wrap-anywhere">
          <del className="text-text-3">{shown(before)}</del> →{" "}
          <ins className="no-underline">{shown(after)}</ins>
        </p>
      )}
    </div>
  );
}
