/** K17: what a look concludes from is the whole of an order at one moment, and of two looks at once one alone counts. */
// modules: private
import { afterEach, expect, it } from "vitest";
import { EndpointsDifferError } from "../../../src/ledger/ledger.ts";
import { DisputeList } from "../../../src/ledger/disputes.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { OrderConcluder } from "../../../src/payments/private/conclude-look.ts";
import { planTransfer } from "../../../src/payments/private/plan-transfer.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

/** A look at the order, which has taken so many steps since it was asked for. */
async function looked(storage: PaymentStorage): ReturnType<OrderConcluder["conclude"]> {
  return concluderOn(storage).conclude(world.order.id, "look");
}

function concluderOn(storage: PaymentStorage, ledger = world.ledger): OrderConcluder {
  const { clock, mints, transfers } = world;
  const prices = { rate: async () => ({ give: 5n, get: 1n }) };
  const plan = planTransfer(() => transfers, clock);
  const deps = {
    storage,
    ledger,
    clock,
    assets: assetsWith(mints),
    prices,
    plan,
    disputes: new DisputeList(clock),
  };
  return new OrderConcluder(deps);
}

it("K17: a look that a step has overtaken writes nothing: that step has asked for the next one", async () => {
  const deposited = { usdc: 5_000_000n };
  world = await transferWorld({ mint: "USDC", shares: [4_900_000n], cut: [1], fee: 100_000n, deposited });
  const { storage, must, buy, key, order } = world;
  await must([buy(key, "0")], key);
  const stepped = { ...storage };
  let loads = 0;
  stepped.load = async (id) => {
    const instance = await storage.load(id);
    return instance && { ...instance, version: instance.version + loads++ };
  };
  expect(await looked(stepped)).toBeUndefined();
  expect((await looked(storage))?.event).toMatchObject({ type: "GO" });
  expect((await storage.order(order.id))?.version).toBe(order.version);
});

it("K17: a look is committed only if nobody has changed the order's rows since it read them", async () => {
  const deposited = { usdc: 5_000_000n };
  world = await transferWorld({ mint: "USDC", shares: [4_900_000n], cut: [1], fee: 100_000n, deposited });
  const { storage, must, buy, key, order } = world;
  await must([buy(key, "0")], key);
  const { id, version } = order;
  expect((await looked(storage))?.writes?.[0]).toMatchObject({
    table: "orders",
    id,
    expectedVersion: version,
  });
});

it("K17: a look that failed while endpoints differed ends without one when a later step has asked for its own", async () => {
  const deposited = { usdc: 5_000_000n };
  world = await transferWorld({ mint: "USDC", shares: [4_900_000n], cut: [1], fee: 100_000n, deposited });
  const { storage, ledger, order } = world;
  const stepped = { ...storage };
  let steps = 0;
  stepped.load = async (id) => {
    const instance = await storage.load(id);
    return instance && { ...instance, version: instance.version + steps };
  };
  let readings = 0;
  const differing = { ...ledger };
  differing.readOrder = async () => {
    readings += 1;
    throw new EndpointsDifferError("the rent of accounts", ["one", "two"]);
  };
  const concluder = concluderOn(stepped, differing);
  await expect(concluder.conclude(order.id, "first")).rejects.toThrow(EndpointsDifferError);
  await expect(concluder.conclude(order.id, "first")).rejects.toThrow(EndpointsDifferError);
  steps += 1;
  await expect(concluder.conclude(order.id, "second")).rejects.toThrow(EndpointsDifferError);
  expect(await concluder.conclude(order.id, "first")).toBeUndefined();
  expect(readings).toBe(3);
  await expect(concluder.conclude(order.id, "second")).rejects.toThrow(EndpointsDifferError);
});
