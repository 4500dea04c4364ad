/**
 * Markdown as React elements. A README, a question and a model's answer are somebody else's words: HTML in them is shown
 * as text, pictures by their description, links lead to http(s) only and say where. What would take long to read, by its
 * length or by how deep it is nested, is shown as it was written.
 */
import type { ComponentProps } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import { linkClass } from "./recipes";

/** Characters that are read as Markdown; reading takes more than its share of time behind that. */
const LONGEST = 32_000;
/** The same of a line. */
const LONGEST_LINE = 4000;
/** Blocks inside blocks, by what begins a line. */
const DEEPEST = 16;
const DEEP = new RegExp(String.raw`^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){${DEEPEST}}`, "m");
/** Lists inside lists are indented by two at least. */
const INDENTED = new RegExp(String.raw`^[ \t]{${2 * DEEPEST},}[-*+>\d]`, "m");

/** Is it read as Markdown, or shown as it is? */
export function isReadable(text: string, longest = LONGEST): boolean {
  return text.length <= longest && !DEEP.test(text) && !INDENTED.test(text);
}

/** The page has its own headings; a README's begin under them. */
function heading(level: number) {
  const Level = `h${Math.min(6, level + 2)}` as "h3";
  return ({ children }: ComponentProps<"h3">) => <Level data-level={level}>{children}</Level>;
}

function addressOf(href: string | undefined): URL | null {
  const address = href !== undefined && URL.canParse(href) ? new URL(href) : null;
  return address && /^https?:$/.test(address.protocol) ? address : null;
}

/** Whether a label is an address of this host. One that only begins alike is another host's. */
function namesHost(label: string, host: string): boolean {
  const address = label.replace(/^https?:\/\//, "");
  return address.startsWith(host) && /^([/?#]|$)/.test(address.slice(host.length));
}

const COMPONENTS: Components = {
  h1: heading(1),
  h2: heading(2),
  h3: heading(3),
  h4: heading(4),
  h5: heading(5),
  h6: heading(6),
  img: ({ alt }) => <em>{alt}</em>,
  // Its label may say anything, another address among it.
  a({ href, children }) {
    const address = addressOf(href);
    if (!address) return <>{children}</>;
    const shown = typeof children === "string" && namesHost(children, address.host);
    return (
      <>
        <a
          className={linkClass}
          href={address.href}
          title={address.href}
          target="_blank"
          rel="noreferrer noopener"
        >
          {children}
        </a>
        {!shown && <span className="text-text-3"> ({address.host})</span>}
      </>
    );
  },
  table: ({ children }) => (
    <div className="markdown-table">
      <table>{children}</table>
    </div>
  ),
};

const BLOCKS: Options["remarkPlugins"] = [[remarkGfm, { singleTilde: false }]];

interface WithExtensions {
  data(): { micromarkExtensions?: object[] };
}

/** Reads marks inside a line only: what would begin a block stays text. */
function inlineOnly(this: WithExtensions) {
  const disable = [
    "blockQuote",
    "codeFenced",
    "codeIndented",
    "definition",
    "headingAtx",
    "htmlFlow",
    "list",
    "setextUnderline",
    "thematicBreak",
  ];
  (this.data().micromarkExtensions ??= []).push({ disable: { null: disable } });
}

const INLINE = [inlineOnly] as Options["remarkPlugins"];
const INLINE_COMPONENTS: Components = { ...COMPONENTS, p: ({ children }) => <>{children}</> };

/** Emphasis, code and links, without blocks: what is a list stays lines of text. */
export function InlineMarkdown({ text }: { text: string }) {
  return (
    <span className="markdown-line">
      {isReadable(text, LONGEST_LINE) ? (
        <ReactMarkdown remarkPlugins={INLINE} components={INLINE_COMPONENTS}>
          {text}
        </ReactMarkdown>
      ) : (
        text
      )}
    </span>
  );
}

interface Props {
  text: string;
  /** Line breaks stay, and the text is as large as what is around it: for words that were not written as Markdown alone. */
  lines?: boolean;
}

export function Markdown({ text, lines = false }: Props) {
  return (
    <div className="markdown select-text" data-lines={lines || undefined}>
      {isReadable(text) ? (
        <ReactMarkdown remarkPlugins={BLOCKS} components={COMPONENTS}>
          {text}
        </ReactMarkdown>
      ) : (
        <pre>{text}</pre>
      )}
    </div>
  );
}
