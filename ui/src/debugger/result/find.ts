/** Finds words in what an element shows, also where they run over several of its texts. Pure but for the DOM it reads. */

const MAX_MATCHES = 2_000;

interface Piece {
  readonly node: Text;
  readonly start: number;
}

/** Lower case of the same length, so that places stay what they are. */
const folded = (text: string): string => {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
};

export function findRanges(root: Element, words: string): Range[] {
  const needle = folded(words);
  if (needle.trim() === "") return [];
  const pieces: Piece[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    pieces.push({ node: node as Text, start: text.length });
    text += folded((node as Text).data);
  }
  const ranges: Range[] = [];
  let piece = 0;
  const placeOf = (at: number, from: number): readonly [Text, number, number] | undefined => {
    let index = from;
    while (index + 1 < pieces.length && (pieces[index + 1]?.start ?? 0) <= at) index += 1;
    const found = pieces[index];
    return found && [found.node, at - found.start, index];
  };
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const start = placeOf(at, piece);
    if (!start) break;
    const end = placeOf(at + needle.length - 1, start[2]);
    if (!end) break;
    piece = start[2];
    const range = document.createRange();
    range.setStart(start[0], start[1]);
    range.setEnd(end[0], end[1] + 1);
    ranges.push(range);
    if (ranges.length === MAX_MATCHES) break;
  }
  return ranges;
}
