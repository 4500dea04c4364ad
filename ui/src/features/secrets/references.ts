/** `${NAME}` in a text: a secret or environment variable, as requests and MCP servers take them. */

/** Names that a text refers to and that must have a value: those with a default (`${NAME:-text}`) need none. */
export function referredNames(text: string): string[] {
  const found = [...text.matchAll(/\$\{(?:env:)?([A-Za-z0-9_]+)\}/g)].map((match) => match[1] ?? "");
  return [...new Set(found)];
}

/** What secrets may be called: as environment variables are. */
export const isSecretName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

export const referenceTo = (name: string): string => `\${${name}}`;
