/** K15: when a reading of an order's levels lists what came to its address. */
import { afterEach, expect, it } from "vitest";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { judgeLevels } from "../../../src/payments/private/judge-levels.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

/** How many deposits a reading lists, after these changes of the row of the order's level. */
async function listed(level: Readonly<Record<string, bigint>>): Promise<number> {
  const { storage, ledger, clock, mints, order, write } = world;
  await write({ table: "levels", id: `${order.id}:${mints.USDC}`, set: level });
  const parts = { storage, ledger, clock, assets: assetsWith(mints) };
  const { look } = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
  return look.view.deposits.length;
}

it("K15: the history is listed for a deposit, and before a part of what was written off is taken back", async () => {
  world = await transferWorld({
    mint: "USDC",
    shares: [4_900_000n],
    cut: [1],
    fee: 100_000n,
    deposited: { usdc: 5_000_000n },
  });
  expect(await listed({})).toBe(0);
  expect(await listed({ received: 8_000_000n, writtenOff: 3_000_000n })).toBe(0);
  expect(await listed({ received: 8_000_000n, writtenOff: 8_000_000n })).toBe(1);
  expect(await listed({ received: 1_000_000n, writtenOff: 0n })).toBe(1);
});
