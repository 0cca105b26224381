/** Processes that begin by a clock that is behind: what they have not been told yet, the reading for an order tells. */
// modules: private
import { expect } from "vitest";
import type { Clock } from "../../../src/core/runtime.ts";
import { privateTest as test } from "../../kit/private-test.ts";

const HOUR_MS = 3_600_000;

test("D35: a process that has just begun by a clock that is behind takes no private order, since the window would be over when it begins", async ({
  world,
}) => {
  const { service, chain, clock } = world;
  const caller = await world.caller();
  const alice = world.wallet("alice", { usdc: 10_000_000n });
  const recipients = [{ address: world.wallet("bob").address, amount: "5" }];
  const wish = { inputAsset: "USDC", outputAsset: "USDC", amount: "5", mode: "private", recipients } as const;
  const orderBy = async (aheadMs: number): Promise<unknown> => {
    const { body: quote } = await service.createQuote(caller, wish);
    const own: Clock = { ...clock, now: () => clock.now() + aheadMs };
    const fresh = world.another({
      ledger: world.ledgerOf([{ url: "http://local", fetch: chain.fetch }]),
      clock: own,
    });
    await fresh.start();
    const { quoteId } = quote;
    const order = { type: "send", mode: "private", quoteId, sender: alice.address, recipients } as const;
    try {
      return await fresh.createTransaction(caller, { ...order, recipients: [...recipients] });
    } finally {
      await fresh.stop();
    }
  };
  chain.advance(2);
  for (const aheadMs of [-HOUR_MS, -62_000]) {
    await expect(orderBy(aheadMs), `${aheadMs}`).rejects.toMatchObject({
      code: "ROUTING_UNAVAILABLE",
      details: { reason: "clock", retryAfter: 60 },
    });
  }
  await expect(orderBy(-58_000)).resolves.toMatchObject({ body: { status: "pending" } });
  // A chain that stands still for so long is behind as well, and contradicts nothing.
  clock.advance(2 * 60_000);
  await expect(orderBy(0)).resolves.toMatchObject({ body: { status: "pending" } });
});
