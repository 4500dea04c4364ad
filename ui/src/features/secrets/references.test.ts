import { describe, expect, it } from "vitest";
import { isSecretName, referenceTo, referredNames } from "./references";

describe("references to secrets", () => {
  it("are found once each, and those with a default are not missed", () => {
    expect(referredNames("Bearer ${A_KEY}, ${env:B}, ${A_KEY}, ${C:-none}")).toEqual(["A_KEY", "B"]);
    expect(referredNames("${{ state.price }} $HOME ${not a name} ${")).toEqual([]);
    expect(referredNames(`x ${referenceTo("STRIPE_KEY")}`)).toEqual(["STRIPE_KEY"]);
  });

  it("are named as environment variables are", () => {
    expect(["STRIPE_KEY", "_x", "a1"].every(isSecretName)).toBe(true);
    expect(["", "1A", "A-B", "A B", "Ä"].some(isSecretName)).toBe(false);
  });
});
