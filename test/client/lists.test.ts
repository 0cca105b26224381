/** Lists of the client: each filter that an endpoint declares reaches the service, on the first page and on the next. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createClient } from "paystate/client";
import { OPERATIONS, type Operation } from "../../src/client/operations.ts";
import { ENDPOINTS } from "../../src/http/endpoints/every-endpoint.ts";

type ListMethod = (...args: readonly unknown[]) => AsyncIterable<unknown>;

const LISTS = Object.entries<Operation>(OPERATIONS).flatMap(([operationId, { path, id }]) => {
  const endpoint = ENDPOINTS.find((each) => each.operationId === operationId);
  const shape = endpoint !== undefined && "query" in endpoint ? endpoint.query?.shape : undefined;
  return id === undefined ? [] : [{ operationId, path, id, fields: Object.keys(shape ?? {}) }];
});

test("Q16: all lists are looked at", () => {
  expect(LISTS.map(({ operationId }) => operationId).toSorted()).toEqual([
    "listDeliveries",
    "listEvents",
    "listTransactionEvents",
    "listTransactions",
  ]);
  for (const { fields } of LISTS) expect(fields).toContain("startingAfter");
});

test.each(LISTS)(
  "Q16: whatever of its filters are given, $operationId sends them for each page, undefined ones never",
  async ({ operationId, path, fields, id }) => {
    const value = fc.option(fc.oneof(fc.string({ minLength: 1 }), fc.nat()), { nil: undefined });
    const query = fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
    const ids = (path.match(/\{/g) ?? []).map(() => "an-id");
    await fc.assert(
      fc.asyncProperty(query, async (given) => {
        const asked: Record<string, string>[] = [];
        const fetch = async ({ url }: Request): Promise<Response> => {
          asked.push(Object.fromEntries(new URL(url).searchParams));
          return Response.json({ data: [{ [id]: `last-${asked.length}` }], hasMore: asked.length < 3 });
        };
        const client = createClient({ baseUrl: "https://pay.example", apiKey: "key", fetch });
        const list = (client as unknown as Readonly<Record<string, ListMethod>>)[operationId];
        const seen: unknown[] = [];
        for await (const element of list?.(...ids, given) ?? []) seen.push(element);
        const sent = Object.fromEntries(
          Object.entries(given).flatMap(([name, each]) => (each === undefined ? [] : [[name, String(each)]])),
        );
        expect(seen).toHaveLength(3);
        expect(asked).toEqual([
          sent,
          { ...sent, startingAfter: "last-1" },
          { ...sent, startingAfter: "last-2" },
        ]);
      }),
    );
  },
);
