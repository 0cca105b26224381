/** The ledger contract on sending bytes and on what is known of them afterwards. */
import assert from "node:assert/strict";
import { promise, type LedgerContractCase } from "./contract.ts";
import {
  AMOUNT,
  fateOf,
  native,
  only,
  PLENTY,
  ready,
  readyBetweenStrangers,
  settle,
  statusOf,
  UNHEARD_OF,
  wealth,
} from "./payments.ts";
import { receiptsOf } from "../../kit/receipts.ts";

/** Broadcasts, statuses and receipts: sent as often as one likes, paid once, final only when finalized. */
export const settlingCases: readonly LedgerContractCase[] = [
  promise(
    "a transaction is unknown, then processed, then confirmed, then finalized with a receipt",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      assert.equal(await statusOf(world, attempt), null);
      await world.ledger.broadcast(attempt.bytes);
      const seen: string[] = [];
      for (let block = 0; block <= world.blocksToFinality; block += 1) {
        const status = await statusOf(world, attempt);
        assert(status !== null && status.error === null);
        if (seen.at(-1) !== status.commitment) seen.push(status.commitment);
        const receipt = only(await receiptsOf(world.ledger, [attempt.signature]));
        assert.equal(
          receipt !== null,
          status.commitment === "finalized",
          "there are receipts of what is final",
        );
        await world.pass(1);
      }
      assert.deepEqual(seen, ["processed", "confirmed", "finalized"]);
      const status = await statusOf(world, attempt);
      const receipt = only(await receiptsOf(world.ledger, [attempt.signature]));
      assert.equal(receipt?.slot, status?.slot);
      assert.equal(receipt?.error, null);
    },
  ),
  promise("E8, E16: the same bytes may be sent at any time, by many at once, and pay once", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    const before = await wealth(world, attempt.payer);
    const { networkFee } = await world.ledger.paymentCost(null, null);
    const send = (): Promise<void> => world.ledger.broadcast(attempt.bytes);
    await Promise.all(Array.from({ length: 20 }, send));
    for (let block = 0; block <= world.blocksToFinality; block += 1) {
      await send();
      await world.pass(1);
    }
    await send();
    await world.pass(world.blocksToFinality);
    assert.equal(await wealth(world, attempt.payer), before - AMOUNT - networkFee);
    assert.equal((await statusOf(world, attempt))?.error, null);
  }),
  promise("E16: endpoints that do everything twice pay once", async (world) => {
    world.breakEndpoint(0, "duplicating");
    world.breakEndpoint(1, "duplicating");
    const attempt = await readyBetweenStrangers(world);
    const before = await wealth(world, attempt.payer);
    const { networkFee } = await world.ledger.paymentCost(null, null);
    await settle(world, attempt);
    assert.equal(await wealth(world, attempt.payer), before - AMOUNT - networkFee);
  }),
  promise(
    "statuses and receipts come in the order asked, null for what nobody has heard of",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      await settle(world, attempt);
      const asked = Array.from({ length: 300 }, (_, index) =>
        index === 3 || index === 280 ? attempt.signature : UNHEARD_OF,
      );
      const statuses = await world.ledger.statuses(asked);
      const receipts = await receiptsOf(world.ledger, asked.slice(270, 290));
      assert.deepEqual([statuses.length, receipts.length], [300, 20]);
      const known = (found: readonly unknown[]): number[] =>
        found.flatMap((each, index) => (each === null ? [] : [index]));
      assert.deepEqual([known(statuses), known(receipts)], [[3, 280], [10]]);
    },
  ),
  promise(
    "what failed on the chain has landed, with its error and its fee, and nothing was paid",
    async (world) => {
      const [from, to] = [await world.wallet({ native: PLENTY }), await world.wallet({ native: PLENTY })];
      // Either alone could be paid.
      const [first, second] = [
        await ready(world, from, native(from, to, (PLENTY / 10n) * 7n)),
        await ready(world, from, native(from, to, (PLENTY / 10n) * 6n)),
      ];
      await settle(world, first);
      await world.ledger.broadcast(second.bytes);
      await world.pass(world.blocksToFinality);
      const status = await statusOf(world, second);
      const receipt = only(await receiptsOf(world.ledger, [second.signature]));
      assert.equal(status?.commitment, "finalized");
      assert(typeof status?.error === "string" && receipt?.error === status.error);
      assert.doesNotThrow(() => JSON.parse(status.error ?? "") as unknown);
      assert.equal(await fateOf(world, second), "landed");
      assert.equal(await wealth(world, from.address), PLENTY - (PLENTY / 10n) * 7n - 2n * receipt.fee);
    },
  ),
  promise(
    "E9: what vanishes on a fork is unknown again, is no failure, and lands once when sent again",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      const before = await wealth(world, attempt.payer);
      await world.pass(1);
      await world.ledger.broadcast(attempt.bytes);
      await world.pass(2);
      assert.equal((await statusOf(world, attempt))?.commitment, "confirmed");
      await world.fork(3);
      assert.equal(await statusOf(world, attempt), null);
      assert.equal(await fateOf(world, attempt), "open");
      assert.equal(await wealth(world, attempt.payer), before);
      await settle(world, attempt);
      const fee = only(await receiptsOf(world.ledger, [attempt.signature]))?.fee ?? 0n;
      assert.equal(await wealth(world, attempt.payer), before - AMOUNT - fee);
    },
  ),
];
