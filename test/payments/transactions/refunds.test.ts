/** Refunds: who is paid back, how much at most, and what counts while a refund may still land. */
import { describe, expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { PreparedSend } from "../../kit/service-fixture.ts";
import { expectRefusal, refusal, type WalletWorld } from "../wallet/wallet-world.ts";
import { eventually } from "../../kit/eventually.ts";
import { walletTest } from "../wallet/wallet-test.ts";

/** Alice has paid the shop 2 USDC; the shop pays back from another wallet than the one that was paid. */
interface Sold extends WalletWorld {
  readonly till: Wallet;
  readonly paid: string;
  /** A signed refund of so much, ready to be posted. */
  refund(amount: string, of?: string): Promise<PreparedSend["body"] & { readonly refundOf: string }>;
  take(amount: string): Promise<string>;
  shown(id?: string): ReturnType<WalletWorld["fixture"]["service"]["transaction"]>;
}

const test = walletTest.extend("sold", async ({ world }): Promise<Sold> => {
  const { fixture, caller, alice, bob } = world;
  const till = fixture.wallet("till", { lamports: 1_000_000_000n, usdc: 10_000_000n });
  fixture.chain.advance(35);
  const { transactionId: paid } = await fixture.send(caller, { from: alice, to: bob.address, amount: "2" });
  await fixture.finalize();
  const refund: Sold["refund"] = async (amount, refundOf = paid) => {
    fixture.chain.advance(1);
    const { body } = await fixture.prepareSend(caller, { from: till, to: alice.address, amount });
    return { ...body, refundOf };
  };
  const take: Sold["take"] = async (amount) => (await world.post(await refund(amount))).body.transactionId;
  const shown: Sold["shown"] = (id = paid) => fixture.service.transaction(caller, id);
  return { ...world, till, paid, refund, take, shown };
});

const NOT_REFUNDABLE = {
  fields: [
    { path: "refundOf", message: "expected a paid send or payroll of this account that is no refund itself" },
  ],
};

describe("Q9: a refund", () => {
  // modules: webhooks
  test("is shown by the payment once it is final, and by itself", async ({ sold }) => {
    const { fixture, shown, take, paid } = sold;
    const id = await take("0.5");
    expect(await shown()).toMatchObject({ refundedAmount: "0", refundedBy: [id], refundOf: null });
    await fixture.finalize();
    expect(await shown()).toMatchObject({ refundedAmount: "0.5", refundedBy: [id] });
    expect(await shown(id)).toMatchObject({ refundOf: paid, refundedAmount: "0", refundedBy: [] });
    const { data } = await fixture.service.listTransactions(sold.caller);
    expect(data.find(({ transactionId }) => transactionId === paid)).toMatchObject({ refundedAmount: "0.5" });
    const refunds = await fixture.service.listTransactions(sold.caller, { refundOf: paid });
    expect(refunds.data.map(({ transactionId }) => transactionId)).toEqual([id]);
    const strangers = await fixture.service.listTransactions(await fixture.caller(), { refundOf: paid });
    expect(strangers.data).toEqual([]);
    const told = async () =>
      (await fixture.service.transactionEvents(sold.caller, paid)).data.map(({ event }) => event);
    await eventually(async () => expect(await told()).toContain("transaction.refunded"));
  });

  test("of all is all that can be refunded; what is left is told", async ({ sold }) => {
    await sold.take("1.5");
    await sold.fixture.finalize();
    await expectRefusal(sold.post(await sold.refund("0.6")), "AMOUNT_TOO_LARGE", { maximum: "0.5" });
    await sold.take("0.5");
    await expectRefusal(sold.post(await sold.refund("0.1")), "AMOUNT_TOO_LARGE", { maximum: "0" });
  });

  test("two at once of 60 % each, in two processes: one is taken", async ({ sold }) => {
    const { fixture, caller } = sold;
    const bodies = [await sold.refund("1.2"), await sold.refund("1.2")];
    const ended = await Promise.allSettled(
      bodies.map((body) => fixture.another().createTransaction(caller, body as never)),
    );
    expect(ended.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    const refused = ended.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
    expect(refused).toMatchObject([{ code: "AMOUNT_TOO_LARGE", details: { maximum: "0.8" } }]);
  });

  test("goes to the sender of the payment, in the asset that was paid, as a send of wallet mode", async ({
    sold,
  }) => {
    const { fixture, caller, till, bob, paid } = sold;
    const { body: elsewhere } = await fixture.prepareSend(caller, {
      from: till,
      to: bob.address,
      amount: "1",
    });
    const refused = await refusal(sold.post({ ...elsewhere, refundOf: paid }));
    expect(refused.details).toMatchObject({ fields: [{ path: "recipients.0.address" }] });
    const sol = { from: till, to: sold.alice.address, amount: "0.1", asset: "SOL" };
    const { body: inSol } = await fixture.prepareSend(caller, sol);
    await expectRefusal(sold.post({ ...inSol, refundOf: paid }), "VALIDATION_ERROR", {
      fields: [{ path: "refundOf", message: "expected a payment of SOL" }],
    });
    const ordered = { ...(await sold.refund("1")), mode: "private" };
    await expectRefusal(sold.post(ordered), "VALIDATION_ERROR", {
      fields: [{ path: "refundOf", message: "only a send of wallet mode refunds a payment" }],
    });
  });

  test("of an unknown payment, another account's, a refund, and one that is not paid are one refusal", async ({
    sold,
  }) => {
    const { fixture, caller, alice, bob } = sold;
    const refund = await sold.take("1");
    fixture.chain.advance(1);
    const open = await fixture.send(caller, { from: alice, to: bob.address, amount: "1" });
    const stranger: Caller = await fixture.caller();
    const { transactionId: theirs } = await fixture.send(stranger, {
      from: alice,
      to: bob.address,
      amount: "3",
    });
    for (const of of ["tx_00000000000000000000000000000000", theirs, refund, open.transactionId]) {
      await expectRefusal(sold.post(await sold.refund("0.1", of)), "VALIDATION_ERROR", NOT_REFUNDABLE);
    }
  });
});

describe("Q9: what a refund counts", () => {
  test("stays counted after a cancel while its bytes may land, and is free when they are dead", async ({
    open,
  }) => {
    const world = await open({ broadcastDelayMs: 20_000 });
    const { fixture, caller, alice, bob } = world;
    const { transactionId: paid } = await fixture.send(caller, { from: alice, to: bob.address, amount: "2" });
    await fixture.pass(20_000);
    await fixture.finalize();
    const till = fixture.wallet("till", { lamports: 1_000_000_000n, usdc: 10_000_000n });
    fixture.chain.advance(35);
    const refund = async (): Promise<object> => ({
      ...(await fixture.prepareSend(caller, { from: till, to: alice.address, amount: "2" })).body,
      refundOf: paid,
    });
    const { body } = await world.post(await refund());
    await fixture.service.cancelTransaction(caller, body.transactionId);
    fixture.chain.advance(1);
    await expectRefusal(world.post(await refund()), "AMOUNT_TOO_LARGE", { maximum: "0" });
    fixture.chain.advance(400);
    await fixture.pass(30_000);
    await fixture.service.settled();
    await world.post(await refund());
  });

  test("is free once a refund that nobody sent is proved dead", async ({ sold }) => {
    const { fixture, shown } = sold;
    const lost = fixture.chain.faults.add(({ method }) =>
      method === "sendTransaction" ? { kind: "drop" } : undefined,
    );
    const id = await sold.take("2");
    await fixture.service.settled();
    await expectRefusal(sold.post(await sold.refund("0.1")), "AMOUNT_TOO_LARGE", { maximum: "0" });
    fixture.chain.advance(400);
    await fixture.pass(30_000);
    expect(await shown(id)).toMatchObject({ status: "failed", reason: "expired" });
    lost();
    const again = await sold.take("2");
    await fixture.finalize();
    expect(await shown()).toMatchObject({ refundedAmount: "2", refundedBy: [id, again] });
  });
});
