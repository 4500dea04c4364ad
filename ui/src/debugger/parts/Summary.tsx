/** Summaries in the author's Markdown: the whole text of a task or a run, or its first line in a row. */
import { InlineMarkdown, Markdown } from "../../components/Markdown";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";

/** The first line that says something; marks of a heading, a list or a quote are no part of it. */
export function firstLine(markdown: string): string {
  const lines = markdown
    .split("\n")
    .map((line) => line.replace(/^\s*(?:#{1,6}|[-*+>]|\d{1,9}[.)])\s+/, "").trim());
  return lines.find((line) => line !== "") ?? "";
}

export function Summary({ text, className = "" }: { text: string; className?: string }) {
  return (
    <section
      className={`select-text rounded-md border border-line bg-surface-2 px-2.5 py-1.5 text-sm ${className}`}
      aria-label={t("debug.summary")}
      data-testid={debugIds.summary}
    >
      <Markdown text={text} />
    </section>
  );
}

export function SummaryLine({ text }: { text: string }) {
  return (
    <span className="min-w-0 truncate" title={text} data-testid={debugIds.summaryLine}>
      <InlineMarkdown text={firstLine(text)} />
    </span>
  );
}
