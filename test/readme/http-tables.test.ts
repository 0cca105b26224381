/** What the page about the HTTP API lists is what there is: resources, limits, statuses, events. */
import { expect, test } from "vitest";
import { PER_CLIENT, WINDOWS } from "../../src/http/contract/limits.ts";
import { eventName } from "../../src/http/endpoints/events.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { transaction } from "../../src/http/endpoints/transaction-schema.ts";
import { DURABLE_LIMITS } from "../../src/payments/accounts/count-hit.ts";
import { MAX_WEBHOOKS } from "../../src/payments/accounts/max-webhooks.ts";
import type { Tier } from "../../src/payments/tables/identity.ts";
import { codeIn, tableOf, textOf } from "./page.ts";

const PAGE = "src/http/README.md";

const table = (mark: string): readonly (readonly string[])[] => tableOf(PAGE, mark);

test("the resources of the endpoints", () => {
  const [section = ""] = textOf(PAGE).slice(textOf(PAGE).indexOf("\n## Endpoints\n")).split("\nHEAD ");
  const named = section.split("\n").flatMap((line) => codeIn(line).filter((path) => path.startsWith("/v1/")));
  const resources = new Set(ENDPOINTS.map(({ path }) => path.split("/").slice(0, 3).join("/")));
  expect(named.toSorted()).toEqual([...resources].toSorted());
});

test("every limit, as it is unless the options say otherwise", () => {
  const cells = (perTier: Readonly<Record<Tier, number>>): readonly string[] =>
    [perTier.free, perTier.pro, perTier.enterprise].map((limit) => limit.toLocaleString("en-US"));
  const rows = table("## Limits").map(([name, free, pro, enterprise]) => [
    ...[codeIn(name)[0] ?? name, free, pro, enterprise],
  ]);
  expect(rows).toEqual([
    ...Object.entries(DURABLE_LIMITS).map(([scope, { perTier }]) => [scope, ...cells(perTier)]),
    ...Object.values(WINDOWS).map(({ scope, perMinute }) => [scope, ...cells(perMinute)]),
    ["webhooks at a time", ...cells(MAX_WEBHOOKS)],
  ]);
  expect(textOf(PAGE)).toContain(`${PER_CLIENT.failedAuthentications} failed authentications`);
  expect(textOf(PAGE)).toContain(`${PER_CLIENT.documents} reads of`);
});

test("every status, and every event", () => {
  const statuses = table("## Transactions").flatMap(([status]) => codeIn(status));
  expect(statuses.toSorted()).toEqual(transaction.shape.status.options.toSorted());
  expect(table("## Webhooks").flatMap(([event]) => codeIn(event))).toEqual(eventName.options);
});
