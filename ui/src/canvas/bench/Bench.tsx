/** Placeholder until the measured canvas exists. */
export function Bench(_props: { query: URLSearchParams }) {
  return null;
}
