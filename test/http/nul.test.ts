/** A NUL in a text that is looked up: PostgreSQL cannot be asked for one, so it is refused before, on every database. */
import { describe, expect, test } from "vitest";
import { everyAdapter } from "../kit/adapters.ts";
import { httpFixture } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";

const [way] = WAYS;
if (way === undefined) throw new RangeError("no way into the handler");

describe.each(everyAdapter)("on $name", ({ make }) => {
  test("a NUL is a VALIDATION_ERROR that names its field, in a body and in a query", async () => {
    const database = await make();
    const fixture = await httpFixture(way, { service: { storage: await database.open() } });
    try {
      const client = await fixture.client();
      const { body } = await client.prepareSend();
      const quote = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
      for (const [field, told] of [
        ["quoteId", await client.post("/v1/transactions", { ...body, quoteId: "q\0" })],
        ["inputAsset", await client.post("/v1/quotes", { ...quote, inputAsset: "\0" })],
        ["outputAsset", await client.post("/v1/quotes", { ...quote, outputAsset: "\0" })],
        ["startingAfter", await client.get("/v1/transactions?startingAfter=%00")],
      ] as const) {
        expect({ ...told, field }).toMatchObject({ field, status: 400, code: "VALIDATION_ERROR" });
        expect(JSON.stringify(told.details)).toContain(field);
      }
    } finally {
      await fixture.close();
      await database.destroy();
    }
  });

  test("a NUL in a path is an id that nothing has", async () => {
    const database = await make();
    const fixture = await httpFixture(way, { service: { storage: await database.open() } });
    try {
      const client = await fixture.client();
      for (const [code, told] of [
        ["TRANSACTION_NOT_FOUND", await client.get("/v1/transactions/%00")],
        ["TRANSACTION_NOT_FOUND", await client.delete("/v1/transactions/%00")],
        ["QUOTE_NOT_FOUND", await client.get("/v1/quotes/%00")],
        ["WEBHOOK_NOT_FOUND", await client.delete("/v1/webhooks/%00")],
      ] as const) {
        expect(told).toMatchObject({ status: 404, code });
      }
    } finally {
      await fixture.close();
      await database.destroy();
    }
  });
});
