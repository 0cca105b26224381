/** The ledger contract on building payments and on what they cost. */
import assert from "node:assert/strict";
import type { WantedPayment } from "../../../src/ledger/ledger.ts";
import { promise, type LedgerContractCase, type WorldWallet } from "./contract.ts";
import { AMOUNT, native, only, PLENTY, ready, reference, settle, tokens, wealth } from "./payments.ts";
import { receiptsOf } from "../../kit/receipts.ts";

const A_MINUTE = 60_000;

/** Building: what was asked for and no more than fits, at the price that is charged. */
export const buildingCases: readonly LedgerContractCase[] = [
  promise("a payment costs its sender the amount and exactly what was estimated", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const payment = native(from, to);
    const { networkFee, rent } = await world.ledger.buildPayment(payment, reference());
    assert.equal(rent, 0n);
    const cost = await world.ledger.paymentCost(null, [to.address]);
    assert.deepEqual(cost, { networkFee, rent });
    const attempt = await ready(world, from, payment);
    await settle(world, attempt);
    assert.equal(only(await receiptsOf(world.ledger, [attempt.signature]))?.fee, networkFee);
    assert.equal(await wealth(world, from.address), PLENTY - AMOUNT - networkFee);
    assert.equal(await wealth(world, to.address), PLENTY + AMOUNT);
  }),
  promise("rent is charged for each recipient who has no account yet, and for no other", async (world) => {
    const from = await world.wallet({ native: PLENTY, tokens: 100n });
    const [old, ...fresh] = [
      await world.wallet({ tokens: 1n }),
      await world.wallet({}),
      await world.wallet({}),
    ];
    const single = await world.ledger.paymentCost(world.token.mint, null);
    assert(single.rent > 0n, "an unknown recipient is priced as one without an account");
    assert.equal((await world.ledger.paymentCost(world.token.mint, [old.address])).rent, 0n);
    const payment = tokens(world, from, [old, ...fresh]);
    const { networkFee, rent } = await world.ledger.buildPayment(payment, reference());
    assert.equal(rent, 2n * single.rent);
    await settle(world, await ready(world, from, payment));
    assert.equal(await wealth(world, from.address), PLENTY - networkFee - rent);
    for (const { address } of fresh) {
      assert.equal(only((await world.ledger.balances(address)).holdings).amount, 5n);
    }
  }),
  promise("E15: a price that the chain has changed is followed within a minute", async (world) => {
    const from = await world.wallet({ native: PLENTY, tokens: 100n });
    const to = await world.wallet({});
    const payment = tokens(world, from, [to]);
    const before = await world.ledger.buildPayment(payment, reference());
    await world.reprice();
    await world.pass(world.blocksToFinality);
    await world.elapse(A_MINUTE);
    const { networkFee, rent } = await world.wait(world.ledger.buildPayment(payment, reference()));
    assert(rent > before.rent);
    assert.equal((await world.ledger.paymentCost(world.token.mint, [to.address])).rent, rent);
    await settle(world, await ready(world, from, payment));
    assert.equal(await wealth(world, from.address), PLENTY - networkFee - rent);
  }),
  promise(
    "an amount outside 1 to 2^64 - 1 is a RangeError, in every asset and at every place",
    async (world) => {
      const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
      for (const wrong of [0n, -1n, 2n ** 64n, 2n ** 64n + 5n]) {
        for (const payment of [native(from, to), tokens(world, from, [to, to])]) {
          const last = payment.transfers.length - 1;
          const transfers = payment.transfers.with(last, { recipient: to.address, amount: wrong });
          await assert.rejects(world.ledger.buildPayment({ ...payment, transfers }, reference()), RangeError);
        }
      }
    },
  ),
  promise("more recipients than one transaction holds are a RangeError", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY, tokens: 1n }), await world.wallet({})];
    const many = Array.from({ length: 300 }, () => to);
    for (const payment of [
      tokens(world, from, many),
      { ...tokens(world, from, many), mint: null, decimals: 9 },
    ]) {
      await assert.rejects(world.ledger.buildPayment(payment, reference()), RangeError);
    }
  }),
  promise(
    "N6: where the chain takes version 1, a payment of that version lands as it was asked for, to as many as it may have",
    async (world) => {
      if (!(await world.ledger.takesVersion1())) return;
      const from = await world.wallet({ native: 10n * PLENTY, tokens: 100n });
      for (const mint of [null, world.token.mint]) {
        const most = world.ledger.mostRecipients(mint);
        const payees = await Promise.all(Array.from({ length: most + 1 }, () => world.wallet({})));
        const wanted = (to: readonly WorldWallet[]): WantedPayment => ({
          ...(mint === null ? native(from, from) : tokens(world, from, [])),
          transfers: to.map(({ address }) => ({ recipient: address, amount: mint === null ? AMOUNT : 5n })),
          transactionVersion: 1,
        });
        const before = await wealth(world, from.address);
        const payment = wanted(payees.slice(1));
        const { networkFee, rent } = await world.ledger.buildPayment(payment, reference());
        await settle(world, await ready(world, from, payment));
        const given = mint === null ? AMOUNT * BigInt(most) : 0n;
        assert.equal(await wealth(world, from.address), before - given - networkFee - rent);
        for (const { address } of payees.slice(1)) {
          const { lamports, holdings } = await world.ledger.balances(address);
          assert.equal(mint === null ? lamports : only(holdings).amount, mint === null ? AMOUNT : 5n);
        }
        await assert.rejects(world.ledger.buildPayment(wanted(payees), reference()), RangeError);
      }
    },
  ),
  promise("two equal payments of one block are two payments by their references", async (world) => {
    const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
    const payment = native(from, to);
    const mark = reference();
    const [first, copy, second] = [
      await ready(world, from, payment, mark),
      await ready(world, from, payment, mark),
      await ready(world, from, payment),
    ];
    assert.equal(copy.messageHash, first.messageHash);
    assert.notEqual(second.messageHash, first.messageHash);
    for (const { bytes } of [first, copy, second]) await world.ledger.broadcast(bytes);
    await world.pass(world.blocksToFinality);
    assert.equal(await wealth(world, to.address), PLENTY + 2n * AMOUNT);
  }),
];
