/**
 * An expression as a tree, for what can be said of it before it runs. Text that is no whole expression, and what this
 * grammar does not have, gives no tree: nothing is said of it then. No editor in here.
 */

/** A part of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export type Expression = Span &
  (
    | { readonly is: "value"; readonly value: string | number | boolean | null }
    | { readonly is: "name"; readonly name: string }
    | { readonly is: "list"; readonly items: readonly Expression[] }
    | { readonly is: "object" }
    | { readonly is: "member"; readonly of: Expression; readonly name: string }
    | { readonly is: "item"; readonly of: Expression; readonly at: Expression | null }
    | { readonly is: "call"; readonly of: Expression }
    | {
        readonly is: "filter";
        readonly of: Expression;
        readonly name: string;
        readonly args: readonly Argument[];
      }
    | { readonly is: "not"; readonly of: Expression }
    | { readonly is: "minus"; readonly of: Expression }
    | { readonly is: "test" }
    | { readonly is: "binary"; readonly sign: string; readonly left: Expression; readonly right: Expression }
    | { readonly is: "choice"; readonly value: Expression; readonly otherwise: Expression | null }
  );

/** What a filter is given, by place or by name. */
interface Argument {
  readonly name: string | null;
  readonly value: Expression;
}

interface Token extends Span {
  readonly kind: "name" | "text" | "number" | "sign";
  readonly text: string;
  readonly value?: string | number;
}

const SIGNS = ["**", "//", "==", "!=", "<=", ">=", ..."+-*/%~<>()[]{},:.|="];
const ESCAPES: Record<string, string> = { n: "\n", t: "\t", r: "\r" };

class NoExpression extends Error {}

function tokensOf(text: string, start: number, end: number): Token[] {
  const tokens: Token[] = [];
  let at = start;
  while (at < end) {
    const rest = text.slice(at, end);
    const space = /^\s+/.exec(rest);
    if (space) {
      at += space[0].length;
      continue;
    }
    const name = /^[A-Za-z_]\w*/.exec(rest);
    const number = /^\d[\d_]*(\.\d+)?([eE][+-]?\d+)?/.exec(rest);
    const quoted = /^(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')/.exec(rest);
    const sign = SIGNS.find((each) => rest.startsWith(each));
    const found = name ?? number ?? quoted;
    const length = found?.[0].length ?? sign?.length;
    if (length === undefined) throw new NoExpression();
    const span = { from: at, to: at + length, text: rest.slice(0, length) };
    if (name) tokens.push({ kind: "name", ...span });
    else if (number) tokens.push({ kind: "number", ...span, value: Number(number[0].replaceAll("_", "")) });
    else if (quoted) {
      const value = quoted[0].slice(1, -1).replace(/\\([^])/g, (_, char: string) => ESCAPES[char] ?? char);
      tokens.push({ kind: "text", ...span, value });
    } else tokens.push({ kind: "sign", ...span });
    at += length;
  }
  return tokens;
}

const CONSTANTS: Readonly<Record<string, boolean | null>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};
const WORDS = new Set(["and", "or", "not", "in", "is", "if", "else"]);
/** Loosest first; `not`, tests and filters have places of their own. */
const LEVELS: readonly (readonly string[])[] = [["or"], ["and"]];
const SUMS: readonly (readonly string[])[] = [["~"], ["+", "-"], ["*", "/", "//", "%"]];
const COMPARES = new Set(["==", "!=", "<", ">", "<=", ">="]);
/** Deeper and longer than anybody writes by hand. */
const DEEPEST = 200;
const LONGEST = 4000;

class Reader {
  #at = 0;
  #depth = 0;

  constructor(readonly tokens: readonly Token[]) {}

  get done(): boolean {
    return this.#at >= this.tokens.length;
  }

  #peek(ahead = 0): Token | undefined {
    return this.tokens[this.#at + ahead];
  }

  #is(text: string, ahead = 0): boolean {
    const token = this.#peek(ahead);
    return token?.text === text && token.kind !== "text";
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#at += 1;
    return true;
  }

  #next(): Token {
    const token = this.#peek();
    if (!token) throw new NoExpression();
    this.#at += 1;
    return token;
  }

  #need(text: string): Token {
    const token = this.#next();
    if (token.text !== text || token.kind === "text") throw new NoExpression();
    return token;
  }

  whole(): Expression {
    this.#depth += 1;
    if (this.#depth > DEEPEST) throw new NoExpression();
    const value = this.#binary(0);
    let whole = value;
    if (this.#take("if")) {
      this.#binary(0);
      const otherwise = this.#take("else") ? this.whole() : null;
      whole = { is: "choice", value, otherwise, from: value.from, to: this.#last() };
    }
    this.#depth -= 1;
    return whole;
  }

  #last(): number {
    return this.tokens[this.#at - 1]?.to ?? 0;
  }

  #binary(level: number): Expression {
    const signs = LEVELS[level];
    if (!signs) return this.#not();
    let left = this.#binary(level + 1);
    for (let sign = this.#peek(); sign && signs.some((each) => this.#is(each)); sign = this.#peek()) {
      this.#at += 1;
      left = this.#joined(sign.text, left, this.#binary(level + 1));
    }
    return left;
  }

  #joined(sign: string, left: Expression, right: Expression): Expression {
    return { is: "binary", sign, left, right, from: left.from, to: right.to };
  }

  #not(): Expression {
    const token = this.#peek();
    if (!token || !this.#take("not")) return this.#compared();
    const of = this.#not();
    return { is: "not", of, from: token.from, to: of.to };
  }

  #compared(): Expression {
    let left = this.#sum(0);
    for (;;) {
      const token = this.#peek();
      if (token?.kind === "sign" && COMPARES.has(token.text)) {
        this.#at += 1;
        left = this.#joined(token.text, left, this.#sum(0));
      } else if (this.#is("in") || (this.#is("not") && this.#is("in", 1))) {
        this.#take("not");
        this.#need("in");
        left = this.#joined("in", left, this.#sum(0));
      } else return left;
    }
  }

  #sum(level: number): Expression {
    const signs = SUMS[level];
    if (!signs) return this.#minus();
    let left = this.#sum(level + 1);
    for (let sign = this.#peek(); sign?.kind === "sign" && signs.includes(sign.text); sign = this.#peek()) {
      this.#at += 1;
      left = this.#joined(sign.text, left, this.#sum(level + 1));
    }
    return left;
  }

  #minus(): Expression {
    const token = this.#peek();
    if (!token || !(this.#take("-") || this.#take("+"))) return this.#power();
    const of = this.#minus();
    return { is: "minus", of, from: token.from, to: of.to };
  }

  #power(): Expression {
    const left = this.#tested();
    return this.#take("**") ? this.#joined("**", left, this.#minus()) : left;
  }

  #tested(): Expression {
    let of = this.#postfix(this.#primary());
    while (this.#take("is")) {
      this.#take("not");
      const name = this.#next();
      if (name.kind !== "name") throw new NoExpression();
      if (this.#is("(")) this.#arguments();
      else if (this.#startsValue()) this.#postfix(this.#primary());
      of = { is: "test", from: of.from, to: this.#last() };
    }
    return of;
  }

  #startsValue(): boolean {
    const token = this.#peek();
    if (!token) return false;
    return token.kind === "sign" ? token.text === "[" : !(token.kind === "name" && WORDS.has(token.text));
  }

  #postfix(of: Expression): Expression {
    for (;;) {
      const { from } = of;
      if (this.#take(".")) {
        const name = this.#next();
        if (name.kind === "name") of = { is: "member", of, name: name.text, from, to: name.to };
        else if (name.kind === "number") {
          const at: Expression = { is: "value", value: name.value ?? 0, from: name.from, to: name.to };
          of = { is: "item", of, at, from, to: name.to };
        } else throw new NoExpression();
      } else if (this.#take("[")) of = this.#item(of);
      else if (this.#is("(")) {
        this.#arguments();
        of = { is: "call", of, from, to: this.#last() };
      } else if (this.#take("|")) {
        const name = this.#next();
        if (name.kind !== "name") throw new NoExpression();
        const args = this.#is("(") ? this.#arguments() : [];
        of = { is: "filter", of, name: name.text, args, from, to: this.#last() };
      } else return of;
    }
  }

  /** One item of a list or object, or a part of it. */
  #item(of: Expression): Expression {
    let at: Expression | null = this.#is(":") ? null : this.whole();
    let sliced = false;
    while (this.#take(":")) {
      sliced = true;
      if (!this.#is(":") && !this.#is("]")) this.whole();
    }
    if (sliced) at = null;
    const { to } = this.#need("]");
    return { is: "item", of, at, from: of.from, to };
  }

  #arguments(): Argument[] {
    this.#need("(");
    const args: Argument[] = [];
    while (!this.#take(")")) {
      const token = this.#peek();
      const named = token?.kind === "name" && this.#is("=", 1);
      if (named) this.#at += 2;
      args.push({ name: named ? token.text : null, value: this.whole() });
      if (!this.#take(",") && !this.#is(")")) throw new NoExpression();
    }
    return args;
  }

  #primary(): Expression {
    const token = this.#next();
    const { from, to, kind, text } = token;
    if (kind === "text" || kind === "number") return { is: "value", value: token.value ?? "", from, to };
    if (kind === "name") {
      const constant = CONSTANTS[text];
      if (constant !== undefined) return { is: "value", value: constant, from, to };
      if (WORDS.has(text)) throw new NoExpression();
      return { is: "name", name: text, from, to };
    }
    if (text === "(") {
      const first = this.whole();
      if (!this.#is(",")) return { ...first, from, to: this.#need(")").to };
      return this.#listed(")", from, [first]);
    }
    if (text === "[") return this.#listed("]", from, []);
    if (text === "{") return this.#object(from);
    throw new NoExpression();
  }

  #listed(close: string, from: number, items: Expression[]): Expression {
    if (items.length > 0) this.#need(",");
    while (!this.#is(close)) {
      items.push(this.whole());
      if (!this.#take(",") && !this.#is(close)) throw new NoExpression();
    }
    return { is: "list", items, from, to: this.#need(close).to };
  }

  #object(from: number): Expression {
    while (!this.#is("}")) {
      this.whole();
      this.#need(":");
      this.whole();
      if (!this.#take(",") && !this.#is("}")) throw new NoExpression();
    }
    return { is: "object", from, to: this.#need("}").to };
  }
}

/** The tree of an expression, or of a part of a text; null where it is none. */
export function parseExpression(text: string, from = 0, to = text.length): Expression | null {
  try {
    const tokens = tokensOf(text, from, to);
    if (tokens.length > LONGEST) return null;
    const reader = new Reader(tokens);
    const whole = reader.whole();
    return reader.done ? whole : null;
  } catch (thrown) {
    if (thrown instanceof NoExpression) return null;
    throw thrown;
  }
}
