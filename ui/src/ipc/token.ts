/**
 * The token of the server that this page came from. It stands behind the `#` of the address that the server prints, is
 * kept for this origin alone, port included, and leaves the address bar and the history at once.
 */
const KEY = "superstep.token";

/** Takes the token out of the address, if it holds one; otherwise gives the one that is kept. */
export function takeToken(): string | null {
  const given = new URLSearchParams(window.location.hash.slice(1)).get("token");
  if (given === null || given === "") return stored()?.getItem(KEY) ?? null;
  stored()?.setItem(KEY, given);
  window.history.replaceState(window.history.state, "", window.location.pathname + window.location.search);
  return given;
}

/** Where it is kept; nowhere when the browser keeps nothing for pages. */
function stored(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

/** The protocols of the event stream: ours, and the token's bytes in hex, since sockets of pages have no headers. */
export function socketProtocols(token: string | null): string[] {
  if (token === null) return ["superstep"];
  const bytes = Array.from(new TextEncoder().encode(token));
  return ["superstep", `superstep.token.${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`];
}
