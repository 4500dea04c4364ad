/** Addresses of databases and servers, as they are typed and as they may be shown: never with a password. */

const PARTS = /^((?:langgraph:)?[a-z][a-z0-9+.-]*:\/\/)(?:([^/?#@:]*)(?::(.*))?@)?([^@]*)$/is;

/** Whether a text is the address of a database or a server, and no path. */
export function isAddress(text: string): boolean {
  return /^\s*(langgraph:\S|agent-server:\S|[a-z][a-z0-9+.-]+:\/\/)/i.test(text);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface SplitAddress {
  /** The address without its password. */
  readonly address: string;
  readonly password: string;
}

/** Takes the password out of an address; one that has none stays as it is. */
export function splitAddress(text: string): SplitAddress {
  const whole = text.trim();
  const [, scheme, user, password, rest] = PARTS.exec(whole) ?? [];
  if (scheme === undefined || password === undefined || password === "")
    return { address: whole, password: "" };
  return { address: `${scheme}${user ?? ""}@${rest ?? ""}`, password: decoded(password) };
}

/** Puts a password into an address that has a user. */
export function joinAddress(address: string, password: string): string {
  const whole = address.trim();
  if (password === "") return whole;
  const [, scheme, user, , rest] = PARTS.exec(whole) ?? [];
  if (scheme === undefined || user === undefined) return whole;
  return `${scheme}${user}:${encodeURIComponent(password)}@${rest ?? ""}`;
}

/** What an address says behind its question mark; one in a password is none of that. */
function queryOf(address: string): URLSearchParams {
  const host = address.slice(address.lastIndexOf("@") + 1);
  const at = host.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : host.slice(at + 1));
}

export const namesSchema = (address: string): boolean => (queryOf(address).get("schema") ?? "") !== "";

export function withSchema(address: string, schema: string): string {
  const host = address.slice(address.lastIndexOf("@") + 1);
  return `${address}${host.includes("?") ? "&" : "?"}schema=${encodeURIComponent(schema)}`;
}

/** Whether an address is that of a LangGraph server, which has headers and no password. */
export function isServerAddress(address: string): boolean {
  return /^\s*(agent-server:|https?:\/\/)/i.test(address);
}
