/** K17: what a look concludes from is the whole of an order at one moment, and of two looks at once one alone counts. */
import { afterEach, expect, it } from "vitest";
import { DisputeList } from "../../../src/ledger/disputes.ts";
import { assetsWith } from "../../../src/payments/assets/assets.ts";
import { OrderConcluder } from "../../../src/payments/private/conclude-look.ts";
import { planTransfer } from "../../../src/payments/private/plan-transfer.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

/** A look at the order, which has taken so many steps since it was asked for. */
async function looked(storage: PaymentStorage): ReturnType<OrderConcluder["conclude"]> {
  const { ledger, clock, mints, order, transfers } = world;
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
  return new OrderConcluder(deps).conclude(order.id);
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
