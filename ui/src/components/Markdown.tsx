/**
 * Markdown as React elements: headings, paragraphs, lists, tables, quotes, code, emphasis, links. HTML in the text is
 * shown as text, pictures by their description, and links only lead to http(s): a README is somebody else's words.
 */
import { Fragment, type ReactNode } from "react";

export type Block =
  | { kind: "heading"; level: number; text: string }
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "list"; ordered: boolean; items: Block[][] }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "rule" };

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** The blocks of a text. */
export function parseMarkdown(text: string): Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    const fence = /^\s*(```+|~~~+)/.exec(line);
    if (fence) {
      const body: string[] = [];
      at += 1;
      while (at < lines.length && !lines[at]!.trim().startsWith(fence[1]!)) body.push(lines[at++]!);
      at += 1;
      blocks.push({ kind: "code", text: body.join("\n") });
      continue;
    }
    const heading = /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(line);
    if (heading) {
      blocks.push({ kind: "heading", level: heading[1]!.length, text: heading[2]! });
      at += 1;
      continue;
    }
    if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      blocks.push({ kind: "rule" });
      at += 1;
      continue;
    }
    if (/^\s*>/.test(line)) {
      const body: string[] = [];
      while (at < lines.length && /^\s*>/.test(lines[at]!)) body.push(lines[at++]!.replace(/^\s*> ?/, ""));
      blocks.push({ kind: "quote", blocks: parseMarkdown(body.join("\n")) });
      continue;
    }
    const item = ITEM.exec(line);
    if (item) {
      const ordered = /\d/.test(item[2]!);
      const indent = item[1]!.length;
      const items: Block[][] = [];
      while (at < lines.length) {
        const next = ITEM.exec(lines[at]!);
        if (
          !next ||
          next[1]!.length > indent + 1 ||
          next[1]!.length < indent ||
          /\d/.test(next[2]!) !== ordered
        )
          break;
        const body = [next[3]!];
        const inner = next[0].length - next[3]!.length;
        at += 1;
        while (at < lines.length) {
          const follow = lines[at]!;
          const deeper = /^\s*/.exec(follow)![0].length > indent;
          if (
            follow.trim() === ""
              ? !/^\s{2,}\S/.test(lines[at + 1] ?? "")
              : !deeper && (ITEM.test(follow) || startsBlock(follow))
          )
            break;
          if (follow.trim() === "" && lines[at + 1] === undefined) break;
          body.push(follow.slice(Math.min(inner, /^\s*/.exec(follow)![0].length)));
          at += 1;
        }
        items.push(parseMarkdown(body.join("\n")));
        while (at < lines.length && lines[at]!.trim() === "" && ITEM.test(lines[at + 1] ?? "")) at += 1;
      }
      blocks.push({ kind: "list", ordered, items });
      continue;
    }
    if (line.includes("|") && /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "")) {
      const head = cells(line);
      at += 2;
      const rows: string[][] = [];
      while (at < lines.length && lines[at]!.includes("|") && lines[at]!.trim() !== "")
        rows.push(cells(lines[at++]!));
      blocks.push({ kind: "table", head, rows });
      continue;
    }
    const body: string[] = [];
    while (at < lines.length && lines[at]!.trim() !== "" && !(body.length > 0 && startsBlock(lines[at]!)))
      body.push(lines[at++]!.trim());
    blocks.push({ kind: "text", text: body.join("\n") });
  }
  return blocks;
}

function startsBlock(line: string): boolean {
  return /^(#{1,6}\s|\s*(```|~~~)|\s*>)/.test(line) || ITEM.test(line);
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const INLINE =
  /(`+)(.+?)\1(?!`)|!\[([^\]]*)\]\([^)]*\)|\[([^\]]+)\]\(([^)\s]+)(?:\s+"[^"]*")?\)|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*?)\*|(?<![\w])_([^_]+?)_(?![\w])/g;

function inline(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    if (found.index > from) parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
    const key = found.index;
    const [, , code, picture, label, address, bold, bold2, italic, italic2] = found;
    if (code !== undefined) parts.push(<code key={key}>{code}</code>);
    else if (picture !== undefined) parts.push(<em key={key}>{picture}</em>);
    else if (label !== undefined) {
      parts.push(
        /^https?:\/\//.test(address ?? "") ? (
          <a key={key} className="ss-link" href={address} target="_blank" rel="noreferrer noopener">
            {inline(label)}
          </a>
        ) : (
          <Fragment key={key}>{inline(label)}</Fragment>
        ),
      );
    } else if ((bold ?? bold2) !== undefined)
      parts.push(<strong key={key}>{inline(bold ?? bold2 ?? "")}</strong>);
    else parts.push(<em key={key}>{inline(italic ?? italic2 ?? "")}</em>);
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, index) => {
    switch (block.kind) {
      case "heading": {
        // The page has its own headings; a README's begin under them.
        const Level = `h${Math.min(6, block.level + 2)}` as "h3";
        return (
          <Level key={index} data-level={block.level}>
            {inline(block.text)}
          </Level>
        );
      }
      case "text":
        return <p key={index}>{inline(block.text)}</p>;
      case "code":
        return <pre key={index}>{block.text}</pre>;
      case "quote":
        return (
          <blockquote key={index}>
            <Blocks blocks={block.blocks} />
          </blockquote>
        );
      case "list": {
        const List = block.ordered ? "ol" : "ul";
        return (
          <List key={index}>
            {block.items.map((item, at) => (
              <li key={at}>
                {item.length === 1 && item[0]?.kind === "text" ? (
                  inline(item[0].text)
                ) : (
                  <Blocks blocks={item} />
                )}
              </li>
            ))}
          </List>
        );
      }
      case "table":
        return (
          <div key={index} className="ss-markdown-table">
            <table>
              <thead>
                <tr>
                  {block.head.map((cell, at) => (
                    <th key={at}>{inline(cell)}</th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {block.rows.map((row, at) => (
                  <tr key={at}>
                    {row.map((cell, column) => (
                      <td key={column}>{inline(cell)}</td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
      case "rule":
        return <hr key={index} />;
    }
  });
}

/** One paragraph's emphasis and code, without blocks: what is a list stays lines of text. */
export function InlineMarkdown({ text }: { text: string }) {
  return <span className="ss-inline-markdown">{inline(text)}</span>;
}

interface Props {
  text: string;
  /** Line breaks stay, and the text is as large as what is around it: for words that were not written as Markdown alone. */
  lines?: boolean;
}

export function Markdown({ text, lines = false }: Props) {
  return (
    <div className="ss-markdown selectable" data-lines={lines || undefined}>
      <Blocks blocks={parseMarkdown(text)} />
    </div>
  );
}
