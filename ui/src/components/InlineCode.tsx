/** Text in which `what stands between backticks` is set as code. For descriptions and problems, which name things so. */
export function InlineCode({ text }: { text: string }) {
  const parts = text.split("`");
  // An odd backtick at the end is only a backtick.
  if (parts.length % 2 === 0) parts.push(`\`${parts.pop() ?? ""}`);
  return parts.map((part, index) => (index % 2 === 1 && parts.length % 2 === 1 ? <code key={index}>{part}</code> : part));
}
