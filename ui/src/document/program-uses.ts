/**
 * Where a program names a state key, by its syntax: `state.key` and its like, what is taken out of `state`, and the fields of
 * objects. A field is surely the key where the object is what a code node returns, by itself or under the name of a variable;
 * anywhere else it may be one of something else that has the same name.
 */
import type { SyntaxNode } from "@lezer/common";
import { parser as javascript } from "@lezer/javascript";
import { parser as python } from "@lezer/python";

export type Language = "javascript" | "python";

export interface KeyUse {
  readonly from: number;
  readonly to: number;
  readonly role: "reads" | "writes";
  /** It may be a field of something else. */
  readonly unsure?: true;
  /** `{ key }`: the word names a variable, too, which keeps its name. */
  readonly shorthand?: true;
}

/** `returnsUpdate`: what the program returns is an update of the state. */
export function keyInProgram(
  source: string,
  key: string,
  language: Language,
  returnsUpdate: boolean,
): KeyUse[] {
  if (key === "" || !source.includes(key)) return [];
  const found: KeyUse[] = [];
  const text = (node: SyntaxNode | null) => (node === null ? "" : source.slice(node.from, node.to));
  const isSure = (object: SyntaxNode | null) => returnsUpdate && object !== null && isUpdate(object, text);
  const isSet = (object: SyntaxNode | null) =>
    returnsUpdate && object?.name === "VariableName" && isReturnedVariable(object, text);
  (language === "python" ? python : javascript).parse(source).iterate({
    enter: ({ node }) => {
      const { from, to } = node;
      const isString = node.name === "String";
      if (isString ? source.slice(from + 1, to - 1) !== key : source.slice(from, to) !== key) return;
      const place = isString ? { from: from + 1, to: to - 1 } : { from, to };
      const parent = node.parent;
      if (isOfState(node, text)) found.push({ ...place, role: "reads" });
      else if (isMember(node, parent)) {
        if (isSet(parent?.firstChild ?? null)) found.push({ ...place, role: "writes" });
      } else if (parent?.name === "PatternProperty") {
        if (isTakenFromState(node, text))
          found.push({
            ...place,
            role: "reads",
            ...(node.name === "VariableDefinition" && { shorthand: true }),
          });
      } else if (parent !== null && isField(node, parent)) {
        const object = parent.name === "DictionaryExpression" ? parent : parent.parent;
        found.push({
          ...place,
          role: "writes",
          ...(!isSure(object) && { unsure: true }),
          ...(node.name === "PropertyDefinition" && node.nextSibling === null && { shorthand: true }),
        });
      }
    },
  });
  return found;
}

type TextOf = (node: SyntaxNode | null) => string;

const isState = (node: SyntaxNode | null, text: TextOf) =>
  node?.name === "VariableName" && text(node) === "state";

/** `object.key`, `object["key"]`. */
const isMember = (node: SyntaxNode, parent: SyntaxNode | null) =>
  (node.name === "PropertyName" || node.name === "String") && parent?.name === "MemberExpression";

/** `state.key`, `state["key"]`, `state.get("key")`, `"key" in state`. */
function isOfState(node: SyntaxNode, text: TextOf): boolean {
  const { parent } = node;
  if (node.name === "PropertyName" || node.name === "String") {
    if (parent?.name === "MemberExpression") return isState(parent.firstChild, text);
    if (parent?.name === "BinaryExpression" && parent.firstChild?.from === node.from)
      return parent.getChild("in") !== null && isState(parent.lastChild, text);
    if (node.name === "String" && parent?.name === "ArgList" && node.prevSibling?.prevSibling === null) {
      const called = parent.parent?.firstChild;
      return (
        called?.name === "MemberExpression" &&
        isState(called.firstChild, text) &&
        text(called.lastChild) === "get"
      );
    }
  }
  return false;
}

/** `const { key } = state`, also under another name. */
function isTakenFromState(node: SyntaxNode, text: TextOf): boolean {
  const property = node.parent;
  if (property?.firstChild?.from !== node.from || property.firstChild.name !== node.name) return false;
  const pattern = property.parent;
  const equals = pattern?.nextSibling;
  return pattern?.name === "ObjectPattern" && equals?.name === "Equals" && isState(equals.nextSibling, text);
}

/** The name of a field of an object that is made. */
function isField(node: SyntaxNode, parent: SyntaxNode): boolean {
  if (parent.name === "Property")
    return (
      (node.name === "PropertyDefinition" || node.name === "String") &&
      parent.firstChild?.from === node.from &&
      parent.getChild("ParamList") === null
    );
  return parent.name === "DictionaryExpression" && node.name === "String" && node.nextSibling?.name === ":";
}

/** Between an object and what is returned there may be choices. */
const TRANSPARENT = new Set([
  "ArrayExpression",
  "BinaryExpression",
  "ConditionalExpression",
  "ParenthesizedExpression",
]);
const FUNCTIONS = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunction",
  "FunctionDefinition",
  "LambdaExpression",
  "MethodDeclaration",
  "Property",
]);

/** Is the object what the program returns, or the update of such a command? */
function isUpdate(object: SyntaxNode, text: TextOf): boolean {
  if (isReturned(object, text)) return true;
  const { parent } = object;
  const list =
    parent?.name === "Property" && text(parent.firstChild) === "update"
      ? parent.parent?.parent
      : text(object.prevSibling?.prevSibling ?? null) === "update"
        ? parent
        : null;
  const call = list?.name === "ArgList" ? list.parent : null;
  return call !== null && /(^|[.\s])Command$/.test(text(list?.prevSibling ?? null)) && isReturned(call, text);
}

function isReturned(value: SyntaxNode, text: TextOf): boolean {
  let node = value.parent;
  while (node !== null && TRANSPARENT.has(node.name)) node = node.parent;
  if (node === null) return false;
  if (node.name === "VariableDeclaration" || node.name === "AssignStatement") {
    const variable = node.getChild(node.name === "AssignStatement" ? "VariableName" : "VariableDefinition");
    return variable !== null && isReturnedVariable(variable, text);
  }
  if (node.name === "ReturnStatement") {
    while (node !== null && !FUNCTIONS.has(node.name)) node = node.parent;
    // The body of a code node is a function itself.
    return node === null || takesState(node, text);
  }
  return (node.name === "ArrowFunction" || node.name === "LambdaExpression") && takesState(node, text);
}

/** Does the function around it return the variable itself? */
function isReturnedVariable(variable: SyntaxNode, text: TextOf): boolean {
  let around: SyntaxNode | null = variable.parent;
  while (around !== null && !FUNCTIONS.has(around.name) && around.parent !== null) around = around.parent;
  if (around === null) return false;
  const name = text(variable);
  const returned: SyntaxNode[] = [];
  around.cursor().iterate(({ node }) => {
    if (node.name === "ReturnStatement" && text(node.getChild("VariableName")) === name) returned.push(node);
  });
  return returned.some((each) => isReturned(each.getChild("VariableName") ?? each, text));
}

const takesState = (program: SyntaxNode, text: TextOf) =>
  /^\(?\s*state\b/.test(text(program.getChild("ParamList")));
