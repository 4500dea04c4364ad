import { nameWidth } from "./geometry";

/** A name in pieces, between which a line may break: after space, `_`, `-`, `.`, `/` and `:`, and within camelCase. */
export function namePieces(name: string): string[] {
  return name.split(
    /(?<=[\s_\-./:])(?![\s_\-./:])|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u,
  );
}

/** The room that a name needs in the middle drawing to be read whole in one line or two, in pixels of the screen. */
export function nameRoom(name: string, lines: 1 | 2): number {
  const whole = nameWidth(name);
  return lines === 1 ? whole : Math.ceil(Math.max(whole / 2, ...namePieces(name).map(nameWidth)));
}
