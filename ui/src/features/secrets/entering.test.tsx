// @vitest-environment jsdom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import type { ListSecrets } from "../../ipc/bindings/ListSecrets";
import type { SecretList } from "../../ipc/bindings/SecretList";
import type { SetSecret } from "../../ipc/bindings/SetSecret";
import { replaceHost } from "../../ipc/client";
import { safetyIds } from "../../lib/testIds";
import { SecretsOfText } from "./SecretsOfText";

const VALUE = "sk-entered-1234";

const stored = new Map<string, SetSecret>();
const asked: ListSecrets[] = [];
let keychainProblem: string | undefined;

replaceHost({
  kind: "web",
  rpc: (command, request) => {
    if (command === "secrets.set") {
      const set = request as SetSecret;
      stored.set(set.name, set);
    } else if (command === "secrets.list") asked.push(request as ListSecrets);
    else return Promise.reject(new Error(`${command} is not expected`));
    const names = [...new Set([...((request as ListSecrets).names ?? []), ...stored.keys()])];
    const list: SecretList = {
      secrets: names.map((name) => {
        const kept = stored.get(name)?.keep;
        return { name, kept: kept !== undefined, ...(kept !== undefined && { from: kept }) };
      }),
      ...(keychainProblem !== undefined && { keychainProblem }),
      file: "secrets.json",
    };
    return Promise.resolve(list);
  },
  subscribe: () => () => {},
  watchConnection: () => () => {},
  setTitle: () => {},
});

afterEach(cleanup);

const settle = () => act(() => new Promise((done) => setTimeout(done, 0)));

test("a secret without a value is said where it is named, and entered there", async () => {
  render(<SecretsOfText text="Bearer ${A_KEY} ${B_KEY:-none}" readOnly={false} offers={false} />);
  render(<SecretsOfText text="${A_KEY}" readOnly={false} offers={false} />);
  await settle();
  expect(asked, "fields ask together").toHaveLength(1);
  expect(asked[0]!.names).toEqual(["A_KEY"]);
  expect(screen.getAllByTestId(safetyIds.secretMissing("A_KEY"))).toHaveLength(2);
  expect(screen.queryByTestId(safetyIds.secretMissing("B_KEY"))).toBeNull();

  fireEvent.click(screen.getAllByTestId(safetyIds.secretEnter("A_KEY"))[0]!);
  await settle();
  expect(screen.getByTestId(safetyIds.secretSave)).toHaveProperty("disabled", true);
  fireEvent.change(screen.getByTestId(safetyIds.secretValue), { target: { value: VALUE } });
  fireEvent.submit(screen.getByTestId(safetyIds.secretForm));
  await settle();
  expect(stored.get("A_KEY")).toEqual({ name: "A_KEY", value: VALUE, keep: "keychain" });
  expect(screen.queryByTestId(safetyIds.secretDialog)).toBeNull();
  expect(screen.queryByTestId(safetyIds.secretMissing("A_KEY"))).toBeNull();
  expect(document.documentElement.outerHTML).not.toContain(VALUE);
});

test("without a keychain a value is kept until the program ends, and the form says so", async () => {
  keychainProblem = "no service answers";
  render(<SecretsOfText text="${C_KEY}" readOnly={false} offers={false} />);
  await settle();
  fireEvent.click(screen.getByTestId(safetyIds.secretEnter("C_KEY")));
  await settle();
  expect(screen.getByTestId(safetyIds.secretDialog).textContent).toContain("no service answers");
  fireEvent.change(screen.getByTestId(safetyIds.secretValue), { target: { value: VALUE } });
  fireEvent.submit(screen.getByTestId(safetyIds.secretForm));
  await settle();
  expect(stored.get("C_KEY")?.keep).toBe("untilClosed");
});

test("a pasted text of several lines keeps them, masked until it is shown", async () => {
  render(<SecretsOfText text="${D_KEY}" readOnly={false} offers={false} />);
  await settle();
  fireEvent.click(screen.getByTestId(safetyIds.secretEnter("D_KEY")));
  await settle();
  const field = () => screen.getByTestId(safetyIds.secretValue);
  const paste = (text: string) => fireEvent.paste(field(), { clipboardData: { getData: () => text } });
  expect(paste("sk-one-line\n"), "one line is pasted by the field").toBe(true);
  expect(field().tagName).toBe("INPUT");
  paste("-----BEGIN KEY-----\r\nabc\r\n-----END KEY-----\r\n");
  expect(field().tagName).toBe("TEXTAREA");
  expect(document.activeElement).toBe(field());
  expect(screen.getByTestId(safetyIds.secretForm).textContent).toContain("3 lines");
  const masked = () => field().parentElement!.className.includes("text-security");
  expect([masked(), fireEvent.copy(field())]).toEqual([true, false]);
  fireEvent.click(screen.getByTestId(safetyIds.secretShow));
  expect([masked(), fireEvent.copy(field())]).toEqual([false, true]);
  fireEvent.submit(screen.getByTestId(safetyIds.secretForm));
  await settle();
  expect(stored.get("D_KEY")?.value).toBe("-----BEGIN KEY-----\nabc\n-----END KEY-----\n");
});

test("an emptied value is one line again", async () => {
  render(<SecretsOfText text="${E_KEY}" readOnly={false} offers={false} />);
  await settle();
  fireEvent.click(screen.getByTestId(safetyIds.secretEnter("E_KEY")));
  await settle();
  const field = () => screen.getByTestId(safetyIds.secretValue);
  fireEvent.paste(field(), { clipboardData: { getData: () => "a\nb" } });
  fireEvent.change(field(), { target: { value: "ab" } });
  expect(field().tagName, "the cursor keeps its place").toBe("TEXTAREA");
  fireEvent.change(field(), { target: { value: "" } });
  expect(field().tagName).toBe("INPUT");
});
