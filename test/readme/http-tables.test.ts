/** What the page about the HTTP API lists is what there is: endpoints, errors, limits, statuses, events. */
import { expect, test } from "vitest";
import { z } from "zod";
import { ERRORS, type ErrorKind } from "../../src/error-table.ts";
import { PER_CLIENT, scopeOf, WINDOWS } from "../../src/http/contract/limits.ts";
import { eventName } from "../../src/http/endpoints/events/event-schemas.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";
import { transaction } from "../../src/http/endpoints/transactions/transaction-schema.ts";
import { HEADERS } from "../../src/http/openapi/headers.ts";
import { DURABLE_LIMITS } from "../../src/payments/accounts/count-hit.ts";
import { MAX_WEBHOOKS } from "../../src/payments/accounts/max-webhooks.ts";
import type { Tier } from "../../src/payments/tables/identity.ts";
import { codeIn, tableOf, textOf } from "./page.ts";

const PAGE = "src/http/README.md";

const table = (mark: string): readonly (readonly string[])[] => tableOf(PAGE, mark);

test("every endpoint with its scope, its limit, its status and what it does", () => {
  const rows = table("## Endpoints").map(([endpoint, scope, limit, status, summary]) => [
    ...[codeIn(endpoint)[0], codeIn(scope)[0], codeIn(limit)[0], Number(status), summary],
  ]);
  expect(rows).toEqual(
    ENDPOINTS.map(({ method, path, scope, limit, answer, summary }) => [
      ...[`${method} ${path}`, scope, scopeOf(limit), answer.status, summary],
    ]),
  );
});

test("every error with its status, its sentence and the details it promises", () => {
  const kinds: readonly (readonly [string, ErrorKind])[] = Object.entries(ERRORS);
  const rows = table("## Errors").map(([code, status, message, details]) => [
    ...[codeIn(code)[0], Number(status), message, details],
  ]);
  expect(rows).toEqual(
    kinds.map(([code, { status, message, details }]) => [code, status, message, detailsCell(details)]),
  );
});

/** Each field in code, with a question mark where it may be missing, and the words that it has to choose from. */
function detailsCell(details: z.ZodObject): string {
  const { properties = {}, required = [] } = z.toJSONSchema(details);
  return Object.entries(properties)
    .map(([name, field]) => {
      const words = typeof field === "object" ? (field.enum ?? []) : [];
      const mark = required.includes(name) ? "" : "?";
      return `\`${name}${mark}\`${words.length === 0 ? "" : `: ${words.join(", ")}`}`;
    })
    .join("; ");
}

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

test("every header of answers", () => {
  const listed = table("## Headers").flatMap(([names]) =>
    codeIn(names).map((name) => name.replace(/:.*/, "")),
  );
  expect(listed.toSorted()).toEqual([...Object.keys(HEADERS), "Allow", "Idempotency-Key"].toSorted());
});

test("every status, and every event", () => {
  const statuses = table("## Transactions").flatMap(([status]) => codeIn(status));
  expect(statuses.toSorted()).toEqual(transaction.shape.status.options.toSorted());
  expect(table("## Webhooks").flatMap(([event]) => codeIn(event))).toEqual(eventName.options);
});
