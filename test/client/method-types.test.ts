/** The types of the client's methods are those of the endpoints' schemas: what the service would refuse does not compile. */
import { expect, expectTypeOf, test } from "vitest";
import { createClient, type PaymentClient } from "paystate/client";

// modules: webhooks
/** Calls that are compiled and never made. */
async function calls(client: PaymentClient): Promise<void> {
  // @ts-expect-error -- there is no such status
  client.listTransactions({ status: "done" });
  // @ts-expect-error -- the body has no such field
  await client.testWebhook("wh_1", { evnt: "transaction.completed" });
  // @ts-expect-error -- a quote needs an amount
  await client.createQuote({ inputAsset: "SOL", outputAsset: "SOL" });
  // @ts-expect-error -- an export is of a time
  client.exportTransactions();
  // @ts-expect-error -- GET takes no idempotency key
  await client.getAccount({ idempotencyKey: "key-1" });
  // @ts-expect-error -- the path has two ids
  await client.redeliver("wh_1", { idempotencyKey: "key-1" });
  await client.redeliver("wh_1", "dlv_1", { idempotencyKey: "key-1" });
  const { fees } = await client.createQuote({ inputAsset: "SOL", outputAsset: "SOL", amount: "1" });
  expectTypeOf(fees.network).toEqualTypeOf<string>();
  const { data } = await client.listDeliveries("wh_1").page();
  expectTypeOf(data[0]?.attempts[0]?.phases.dnsMs).toEqualTypeOf<number | null | undefined>();
}

test("a client has the methods whose types are checked here", () => {
  const client = createClient({ baseUrl: "https://pay.example", apiKey: "key" });
  expect(typeof calls).toBe("function");
  const used = [
    "listTransactions",
    "testWebhook",
    "createQuote",
    "exportTransactions",
    "getAccount",
    "redeliver",
    "listDeliveries",
  ];
  expect(Object.keys(client)).toEqual(expect.arrayContaining(used));
});
