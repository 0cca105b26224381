/** Erasing what names people, of a private order: its deposit address comes first. */
// modules: private
import { expect } from "vitest";
import type { ActContext } from "../../../src/payments/frame/intake/rules.ts";
import { units } from "../../kit/money.ts";
import { privateTest } from "../../kit/private-test.ts";

const DAY = 86_400_000;
const ANN: ActContext = { actor: "ann", reason: "the customer has asked for it" };
const BOB: ActContext = { actor: "bob", reason: "so it is" };
const CARL = "carl-miller-1977";

privateTest(
  "Q22: of a private order nothing is erased before its address is 60 days old and no longer looked at",
  async ({ world }) => {
    const { service, clock } = world;
    const caller = await world.caller();
    const alice = world.wallet("alice", { usdc: 1n });
    const recipients = [{ address: world.wallet("bob", { usdc: 1n }).address, amount: "2" }];
    const { body: quote } = await service.createQuote(caller, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "2",
      mode: "private",
      recipients,
    });
    const { body } = await service.createTransaction(caller, {
      type: "send",
      mode: "private",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
      reference: CARL,
    });
    if (!("ephemeralAddress" in body)) throw new Error("it is a private order");
    const wanted = { accountId: caller.accountId, reference: CARL };
    const asked = () => service.operator.erase(wanted, ANN);
    await expect(asked()).rejects.toThrow("it is open");
    await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    await world.settle();
    await expect(asked()).rejects.toThrow("it is under a day old");
    clock.advance(DAY);
    await expect(asked()).rejects.toThrow(
      "its deposit address is under 60 days old, and money may still come",
    );
    clock.advance(60 * DAY);
    await expect(asked()).rejects.toThrow("the chain is still asked about it");
    for (let round = 0; round < 4; round++) {
      world.chain.advance(200);
      await world.pass(61 * DAY);
      await world.settle(4);
    }
    const order = await world.storage.orderViews([body.transactionId]);
    await asked();
    expect(await service.operator.erase(wanted, BOB)).toMatchObject({ state: "done", transactions: 1 });
    expect(await service.transaction(caller, body.transactionId)).toMatchObject({
      status: "completed",
      reference: null,
    });
    expect(await world.storage.orderViews([body.transactionId])).toEqual(order);
    expect(await service.reconcile()).toMatchObject({ isExplained: true });
  },
);
