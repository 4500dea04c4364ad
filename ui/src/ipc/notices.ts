/** The licences of what is built in: a file beside the page, in the window as on a server. */

/** @throws where the file is missing, as in an interface that is served while it is developed. */
export async function readNotices(): Promise<string> {
  const answer = await fetch("/notices.txt");
  // A server may answer with the page itself for an address that it does not know.
  if (!answer.ok || answer.headers.get("content-type")?.startsWith("text/html"))
    throw new Error("The notices are not part of this build. `npm run build` in ui/ writes them.");
  return await answer.text();
}
