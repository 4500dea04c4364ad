/** The beginning of a text that is longer than `most`, with an ellipsis; never half a character. */
export function beginning(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, isHalf ? most - 1 : most)}…`;
}
