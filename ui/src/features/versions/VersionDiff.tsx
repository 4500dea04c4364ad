/** What differs between the version that is shown and the graph as it is now: by record and field, the layout apart. */
import { useMemo, type ReactNode } from "react";
import { recordsOf, useVersion } from "../../canvas/useVersion";
import { Fold } from "../../components/Fold";
import { WordDiff } from "../../debugger/parts/WordDiff";
import { preview } from "../../debugger/parts/format";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { doc, useDocumentVersion } from "../../document/store";
import { compareRecords, fieldOf, type DiffMark, type RecordDiff } from "../../document/version-diff";
import type { Json } from "../../document/types";
import type { VersionContent } from "../../ipc/bindings/VersionContent";
import { versionsIds } from "../../lib/testIds";
import { t, tn } from "../../lib/texts";
import { useSession } from "../../state/session";
import type { ShownVersion } from "../../state/shown-version";
import { diffSignClass } from "../../canvas/recipes";

/** Records that are listed, and fields of one. */
const MOST = 200;
const MOST_FIELDS = 6;
const SIGNS: Record<DiffMark, string> = { added: "+", removed: "−", changed: "~" };

export function VersionDiff({ version }: { version: ShownVersion }) {
  const { content, problem } = useVersion(version.graphId, version.id);
  const now = useDocumentVersion();
  const diff = useMemo(
    () => (content === null || now < 0 ? null : compareRecords(recordsOf(content), doc.records())),
    [content, now],
  );
  if (problem) return <ProblemNote problem={problem} />;
  if (content === null || diff === null) return null;
  const files = content.files.filter((file) => file.now !== "same");
  const same = diff.content.length + files.length + content.packages.length === 0;
  return (
    <section className="pb-2 text-xs/4.5" aria-label={t("versions.diff")} data-testid={versionsIds.diff}>
      {content.redacted && <p className="pb-1 text-asking">{t("versions.redacted")}</p>}
      {same && (
        <p className="text-text-2">
          {t(diff.layout.length > 0 ? "versions.diff.layoutOnly" : "versions.diff.none")}
        </p>
      )}
      <ul className="flex flex-col">
        {diff.content.slice(0, MOST).map((record) => (
          <RecordLine key={record.id} record={record} />
        ))}
      </ul>
      {diff.content.length > MOST && (
        <p className="text-text-3">{t("versions.diff.more", { n: diff.content.length - MOST })}</p>
      )}
      <Files content={content} />
      {diff.layout.length > 0 && !same && (
        <Fold small head={tn("versions.diff.layoutOne", "versions.diff.layout", diff.layout.length)}>
          {() => (
            <ul>
              {diff.layout.slice(0, MOST).map((record) => (
                <Line key={record.id} mark={record.mark} name={record.name} />
              ))}
            </ul>
          )}
        </Fold>
      )}
    </section>
  );
}

function Files({ content }: { content: VersionContent }) {
  const marks = { changed: "changed", gone: "removed", added: "added" } as const;
  return (
    <ul className="flex flex-col">
      {content.files.map((file) =>
        file.now === "same" ? null : <Line key={file.path} mark={marks[file.now]} name={file.path} />,
      )}
      {content.packages.map(({ name, before, after }) => (
        <Line
          key={name}
          mark={before === undefined ? "added" : after === undefined ? "removed" : "changed"}
          name={`${name} ${[before, after].filter((one) => one !== undefined).join(" → ")}`}
        />
      ))}
    </ul>
  );
}

function Line({ mark, name, children }: { mark: DiffMark; name: string; children?: ReactNode }) {
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

function RecordLine({ record }: { record: RecordDiff }) {
  const select = useSession((session) => session.select);
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
      data-mark={record.mark}
    >
      <span className={diffSignClass} data-diff={record.mark} title={t(`versions.mark.${record.mark}`)}>
        <span aria-hidden>{SIGNS[record.mark]}</span>
        <span className="sr-only">{t(`versions.mark.${record.mark}`)}</span>
      </span>
      <div className="min-w-0 flex-1">
        <p>
          <span className="text-text-3">{word}</span>{" "}
          {record.mark === "removed" || record.section === "doc" ? (
            <span className="font-semibold wrap-anywhere">{record.name}</span>
          ) : (
            <button type="button" className="font-semibold wrap-anywhere hover:underline" onClick={reveal}>
              {record.name}
            </button>
          )}
        </p>
        {record.fields.slice(0, MOST_FIELDS).map((field) => (
          <Field
            key={field}
            field={field}
            before={fieldOf(record.before, field)}
            after={fieldOf(record.after, field)}
          />
        ))}
        {record.fields.length > MOST_FIELDS && (
          <p className="text-text-3">{t("versions.diff.more", { n: record.fields.length - MOST_FIELDS })}</p>
        )}
      </div>
    </li>
  );
}

const shown = (value: Json | undefined) =>
  value === undefined ? t("versions.diff.absent") : preview(value, 240);

function Field({
  field,
  before,
  after,
}: {
  field: string;
  before: Json | undefined;
  after: Json | undefined;
}) {
  return (
    <div className="pt-0.5">
      <p className="font-mono text-2xs/4 text-text-3">{field}</p>
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
