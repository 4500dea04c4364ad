// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { setField } from "../document/edits";
import { doc } from "../document/store";
import { edit } from "../document/edit";
import { useFileQuestion } from "../state/file-dialogs";
import { replaceHost } from "../ipc/client";
import { t } from "../lib/texts";
import { fakeHost } from "../test/fakeHost";
import { nameOf, newGraph, save } from "./files";

let host: ReturnType<typeof fakeHost>;
beforeEach(async () => {
  host = fakeHost();
  replaceHost(host);
  await newGraph();
});

async function saveAs(path: string): Promise<void> {
  const saved = save();
  while (useFileQuestion.getState().question === null) await new Promise((done) => setTimeout(done, 1));
  const { question } = useFileQuestion.getState();
  useFileQuestion.setState({ question: null });
  if (question?.kind === "save") question.answer(path);
  await saved;
}

describe("a draft that is saved", () => {
  it("is called as its file while nobody has named it", async () => {
    expect(doc.name).toBe(t("shell.newName"));
    await saveAs("/home/me/order-agent.json");
    expect(doc.name).toBe("Order agent");
    const [open] = host.documents.values();
    expect(open?.doc.name).toBe("Order agent");
    expect(open?.savedRev).toBe(open?.rev);
  });

  it("keeps a name that was given", async () => {
    edit("name", (document) => setField(document, "doc", "/name", "Desk"));
    await saveAs("/home/me/order-agent.json");
    expect(doc.name).toBe("Desk");
  });
});

it("names graphs by their file, or by the folder of a graph.json", () => {
  expect(nameOf("/a/order_agent v2.JSON")).toBe("Order agent v2");
  expect(nameOf("/a/support-desk/graph.json")).toBe("Support desk");
  expect(nameOf("C:\\work\\Desk.json")).toBe("Desk");
  expect(nameOf("/.json")).toBeNull();
});
