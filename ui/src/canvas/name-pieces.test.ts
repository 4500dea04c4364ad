import { expect, it } from "vitest";
import { namePieces } from "./name-pieces";

it("a name breaks between its words and nowhere else", () => {
  expect(namePieces("summarize_customer_request")).toEqual(["summarize_", "customer_", "request"]);
  expect(namePieces("check-v1.2 again")).toEqual(["check-", "v1.", "2 ", "again"]);
  expect(namePieces("parseHTTPAnswer2Json")).toEqual(["parse", "HTTP", "Answer2", "Json"]);
  expect(namePieces("a__b")).toEqual(["a__", "b"]);
  expect(namePieces("классифицироватьЗапрос")).toEqual(["классифицировать", "Запрос"]);
  for (const whole of ["classification", "URL", "_", "检索文档", ""])
    expect(namePieces(whole)).toEqual([whole]);
});
