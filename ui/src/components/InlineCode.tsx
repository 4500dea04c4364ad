/** Text in which `what stands between backticks` is set as code. For descriptions and problems, which name things so. */
export function InlineCode({ text }: { text: string }) {
  const parts = text.split("`");
  // A backtick without a partner is only a backtick.
  if (parts.length % 2 === 0) {
    const rest = parts.pop() ?? "";
    parts.push(`${parts.pop() ?? ""}\`${rest}`);
  }
  return parts.map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
