/** A name in pieces, between which a line may break: after space, `_`, `-`, `.`, `/` and `:`, and within camelCase. */
export function namePieces(name: string): string[] {
  return name.split(
    /(?<=[\s_\-./:])(?![\s_\-./:])|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u,
  );
}
