/** What operators have set, as callers are told of it over HTTP. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { httpFixture, type HttpFixture } from "./http-fixture.ts";
import { WAYS } from "./ways.ts";
import { BY } from "../kit/by.ts";

const [way] = WAYS;
if (way === undefined) throw new Error("there is a way into the handler");

let http: HttpFixture;
beforeAll(async () => {
  http = await httpFixture(way);
});
afterAll(() => http.close());

test("M14: paused, a POST is answered 503 with Retry-After, and GET and DELETE as always", async () => {
  const client = await http.client();
  const { body } = await client.prepareSend();
  const taken = await client.post("/v1/transactions", (await client.prepareSend()).body);
  await http.service.operator.pause({}, BY);
  for (const refused of [
    await client.post("/v1/transactions", body),
    await client.post("/v1/quotes", { inputAsset: "USDC", outputAsset: "USDC", amount: "1" }),
    await client.post(`/v1/quotes/${body.quoteId}/refresh`),
  ]) {
    expect(refused).toMatchObject({ status: 503, code: "SERVICE_PAUSED", details: { scope: "wallet" } });
    expect(refused.headers.get("retry-after")).toBe("60");
  }
  const path = `/v1/transactions/${String(taken.body["transactionId"])}`;
  expect((await client.get(path)).status).toBe(200);
  expect((await client.delete(path)).code).toBe("ALREADY_PROCESSED");
  await http.service.operator.resume({}, BY);
  expect((await client.post("/v1/transactions", body)).status).toBe(201);
});

test("an account that is suspended is answered 403 before its body is looked at, and after its scope and limits", async () => {
  const client = await http.client();
  const reader = await http.client({ caller: client.caller, scopes: ["transactions:read"] });
  await http.service.operator.suspendAccount(client.caller.accountId, BY);
  expect(await client.post("/v1/transactions", "{}")).toMatchObject({
    status: 403,
    code: "ACCOUNT_SUSPENDED",
  });
  expect(await client.post("/v1/transactions", "{")).toMatchObject({ status: 400, code: "VALIDATION_ERROR" });
  expect(await reader.post("/v1/transactions", "{}")).toMatchObject({
    status: 403,
    code: "INSUFFICIENT_SCOPE",
  });
  expect((await client.get("/v1/webhooks")).status).toBe(200);
});
