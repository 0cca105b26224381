/** What was taken before its host turned private mode or swaps off: shown, answered anew and refunded as before. */
import { describe, expect } from "vitest";
import type { PaymentService } from "../../src/service/payment-service.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import { units } from "../kit/money.ts";
import type { SwapFixture } from "../kit/swap-fixture.ts";
import { passTime } from "../kit/pass-time.ts";
import { swapTest } from "../kit/swap-test.ts";
import { expectRefusal } from "./wallet/wallet-world.ts";

const SOL = 1_000_000_000n;
const OFF = { reason: "off" };

const test = swapTest.extend("parties", async ({ world }) => ({
  world,
  caller: await world.caller("enterprise"),
  alice: world.wallet("alice", { lamports: 10n * SOL, usdc: 100_000_000n }),
  bob: world.wallet("bob", { lamports: SOL, usdc: 100_000_000n }),
}));

async function exported({ clock }: SwapFixture, service: PaymentService, caller: Caller): Promise<string> {
  const [from = "", to = ""] = [-86_400_000, 86_400_000].map((ms) =>
    new Date(clock.now() + ms).toISOString(),
  );
  let text = "";
  for await (const part of await service.exportTransactions(caller, { from, to })) text += part;
  return text;
}

// modules: private
describe("private mode that is off", () => {
  test("shows, lists and exports its orders as when it was on, and cancels none", async ({ parties }) => {
    const { world, caller, alice, bob } = parties;
    const to = [{ address: bob.address, amount: "5" }];
    const { body: paid } = await world.order(caller, { sender: alice, to });
    await world.deposit(paid.ephemeralAddress, { usdc: units(paid.depositAmount, 6) + 2_000_000n });
    await world.settle(10);
    const { body: open } = await world.order(caller, { sender: alice, to });
    await world.deposit(open.ephemeralAddress, { usdc: 1_000_000n });

    const off = world.another({ privateRouting: undefined });
    for (const { transactionId } of [paid, open]) {
      expect(await off.transaction(caller, transactionId)).toEqual(
        await world.service.transaction(caller, transactionId),
      );
    }
    expect(await off.transaction(caller, paid.transactionId)).toMatchObject({ status: "completed" });
    expect(await off.listTransactions(caller)).toEqual(await world.service.listTransactions(caller));
    const csv = await exported(world, off, caller);
    expect(csv).toBe(await exported(world, world.service, caller));
    expect(csv).toContain(",payment,");
    await expectRefusal(off.cancelTransaction(caller, open.transactionId), "ROUTING_UNAVAILABLE", OFF);
    await expectRefusal(off.cancelTransaction(caller, paid.transactionId), "ROUTING_UNAVAILABLE", OFF);
  });

  test("answers a repeated order as at first, and refuses one over a quote of before, which stays as it is", async ({
    parties,
  }) => {
    const { world, caller, alice, bob } = parties;
    const recipients = [{ address: bob.address, amount: "5" }];
    const wanted = {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "5",
      mode: "private" as const,
      recipients,
    };
    const off = world.another({ privateRouting: undefined });
    const quoted = async () => (await world.service.createQuote(caller, wanted)).body.quoteId;
    const requestOf = (quoteId: string) => ({
      type: "send" as const,
      mode: "private" as const,
      quoteId,
      sender: alice.address,
      recipients,
    });
    const first = requestOf(await quoted());
    const taken = await world.service.createTransaction(caller, first, { idempotencyKey: "one" });
    await world.service.cancelTransaction(caller, (taken.body as { transactionId: string }).transactionId);
    for (const idempotencyKey of ["one", "two"]) {
      const again = await off.createTransaction(caller, first, { idempotencyKey });
      expect(again.body).toEqual(taken.body);
    }
    const other = requestOf(await quoted());
    await expectRefusal(off.createTransaction(caller, other), "ROUTING_UNAVAILABLE", OFF);
    await expectRefusal(off.refreshQuote(caller, other.quoteId), "ROUTING_UNAVAILABLE", OFF);
    expect(await off.quote(caller, other.quoteId)).toEqual(await world.service.quote(caller, other.quoteId));
    expect((await world.service.createTransaction(caller, other)).body).toMatchObject({ status: "pending" });
  });

  test("lets a paid order be refunded, and no more than it paid", async ({ parties }) => {
    const { world, caller, alice, bob } = parties;
    const { body } = await world.order(caller, {
      sender: alice,
      to: [{ address: bob.address, amount: "5" }],
    });
    await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    await world.settle(10);
    const off = world.another({ privateRouting: undefined });
    const refund = async (amount: string) => {
      world.chain.advance(1);
      const prepared = await world.prepareSend(caller, { from: bob, to: alice.address, amount });
      const { recipients } = prepared.body;
      return { ...prepared.body, recipients: [...recipients], refundOf: body.transactionId };
    };
    await expectRefusal(off.createTransaction(caller, await refund("5.1")), "AMOUNT_TOO_LARGE", {
      maximum: "5",
    });
    const taken = await off.createTransaction(caller, await refund("2"));
    expect(await off.transaction(caller, body.transactionId)).toMatchObject({
      refundedBy: [(taken.body as { transactionId: string }).transactionId],
    });
  });
});

describe("swaps that are off", () => {
  test("refuse a quote of before as off, and leave it to who can complete it", async ({ parties }) => {
    const { world, caller, alice } = parties;
    const quote = await world.quote(caller, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    const off = world.another({ swap: undefined });
    const request = world.signed(quote, alice);
    await expectRefusal(off.createTransaction(caller, request), "ROUTING_UNAVAILABLE", OFF);
    await expectRefusal(off.refreshQuote(caller, quote.quoteId), "ROUTING_UNAVAILABLE", OFF);
    const { body } = await world.service.createTransaction(caller, request);
    expect((await off.createTransaction(caller, request)).body).toEqual(body);
    await world.finalize();
    const { transactionId } = body as { transactionId: string };
    const shown = await off.transaction(caller, transactionId);
    expect(shown).toEqual(await world.service.transaction(caller, transactionId));
    expect(shown).toMatchObject({ status: "completed", type: "swap" });
    expect(await exported(world, off, caller)).toBe(await exported(world, world.service, caller));
  });

  test("leave a swap that was taken before unsigned until it is dead, and give its share back", async ({
    open,
  }) => {
    const world = await open({ options: { broadcastDelayMs: 5_000 } });
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 10n * SOL, usdc: 100_000_000n });
    const { body } = await world.swap(caller, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
    await world.service.stop();
    expect(await world.promised("USDC")).toBeGreaterThan(0n);

    const off = world.another({ swap: undefined });
    await off.start();
    const { clock, storage, chain } = world;
    const pass = (ms: number) =>
      passTime({ clock, engine: off, storage, workflows: off.workflows }, clock.now() + ms);
    await pass(30_000);
    expect(await off.transaction(caller, body.transactionId)).toMatchObject({ status: "pending" });
    chain.advance(400);
    await pass(600_000);
    expect(await off.transaction(caller, body.transactionId)).toMatchObject({
      status: "failed",
      reason: "expired",
    });
    expect([world.deskSigned(), await world.promised("USDC")]).toEqual([0, 0n]);
    await off.stop();
  });
});
