/** What the page about the HTTP API lists is what there is: resources, limits of addresses, statuses. */
import { expect, test } from "vitest";
import { PER_CLIENT } from "../../src/http/contract/limits.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { transactionSchema } from "../../src/payments/frame/transactions/transaction-schema.ts";
import { codeIn, tableOf, textOf } from "./page.ts";

const PAGE = "src/http/README.md";

test("the resources of the endpoints", () => {
  const [section = ""] = textOf(PAGE).slice(textOf(PAGE).indexOf("\n## Endpoints\n")).split("\nHEAD ");
  const named = section.split("\n").flatMap((line) => codeIn(line).filter((path) => path.startsWith("/v1/")));
  const resources = new Set(ENDPOINTS.map(({ path }) => path.split("/").slice(0, 3).join("/")));
  expect(named.toSorted()).toEqual([...resources].toSorted());
});

test("every limit of a client's address, and every status", () => {
  expect(textOf(PAGE)).toContain(`${PER_CLIENT.failedAuthentications} failed authentications`);
  expect(textOf(PAGE)).toContain(`${PER_CLIENT.documents} reads of`);
  const statuses = tableOf(PAGE, "## Transactions").flatMap(([status]) => codeIn(status));
  expect(statuses.toSorted()).toEqual(transactionSchema.shape.status.options.toSorted());
});
