// @vitest-environment jsdom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, it } from "vitest";
import { doc, useDocumentState } from "../../document/store";
import { replaceHost } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { useSession } from "../../state/session";
import { fakeHost } from "../../test/fakeHost";
import { ServerEditor } from "./ServerEditor";

const shown = (servers: object[], value = "") => {
  replaceHost(fakeHost(new Map(), { "mcp.servers": () => ({ servers, file: ".mcp.json" }) }));
  doc.reset([{ id: "doc", value: {} }]);
  useDocumentState.setState({ path: "/graphs/a.json" });
  useSession.setState({ graphId: `graph-${servers.length}-${value}` });
  const nothing = () => {};
  return render(
    <ServerEditor
      schema={{}}
      value={value}
      onChange={nothing}
      pointer="/mcp/0/server"
      stateKeys={[]}
      variables={[]}
      readOnly={false}
      problems={[]}
      problemsAt={() => []}
      onBlur={nothing}
    />,
  );
};

beforeEach(() => useSession.setState({ graphId: null }));
afterEach(cleanup);

it("asks for a server at once where the project has none to choose from", async () => {
  shown([]);
  screen.getByRole("combobox").focus();
  const how = await screen.findByTestId(safetyIds.serverHow);
  expect(document.activeElement, "what is typed goes on there").toBe(how);
  fireEvent.keyDown(how, { key: "Escape" });
  expect(screen.queryByTestId(safetyIds.serverHow)).toBeNull();
  expect(screen.getByRole("combobox")).toBeTruthy();
  fireEvent.click(screen.getByTestId(safetyIds.serverAdd));
  expect(screen.getByTestId(safetyIds.serverHow)).toBeTruthy();
});

it("does not take the focus from elsewhere", async () => {
  shown([]);
  const how = await screen.findByTestId(safetyIds.serverHow);
  expect(document.activeElement).not.toBe(how);
});

it("offers the servers that there are", async () => {
  shown([{ name: "tools", command: "x", args: [], variables: [] }]);
  expect(await screen.findByTestId(safetyIds.serverAdd)).toBeTruthy();
  expect(screen.queryByTestId(safetyIds.serverHow)).toBeNull();
});
