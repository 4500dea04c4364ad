import { expect, it } from "vitest";
import { namePieces, nameRoom } from "./name-pieces";

it("a name breaks between its words and nowhere else", () => {
  expect(namePieces("summarize_customer_request")).toEqual(["summarize_", "customer_", "request"]);
  expect(namePieces("check-v1.2 again")).toEqual(["check-", "v1.", "2 ", "again"]);
  expect(namePieces("parseHTTPAnswer2Json")).toEqual(["parse", "HTTP", "Answer2", "Json"]);
  expect(namePieces("a__b")).toEqual(["a__", "b"]);
  expect(namePieces("классифицироватьЗапрос")).toEqual(["классифицировать", "Запрос"]);
  for (const whole of ["classification", "URL", "_", "检索文档", ""])
    expect(namePieces(whole)).toEqual([whole]);
});

it("a name needs the room of its longer line, or of its longest word", () => {
  expect(nameRoom("summarise", 1)).toBe(65);
  expect(nameRoom("summarise", 2), "it is one word").toBe(65);
  expect(nameRoom("check_the_order", 1)).toBe(99);
  expect(nameRoom("check_the_order", 2)).toBe(50);
  expect(nameRoom("检索文档", 1), "these letters are as wide as they are high").toBe(48);
  expect(nameRoom("", 1)).toBe(0);
});
