/** A private send from its quote to the empty deposit address, on the real programs. */
// modules: private
import { expect } from "vitest";
import { units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";

test("P18, P24: a private send pays its recipient exactly, and its address ends at nothing", async ({
  open,
}) => {
  const world = await open();
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const { quote, body } = await world.order(caller, {
    sender: alice,
    to: [{ address: bob.address, amount: "5" }],
  });
  expect(body).toMatchObject({ status: "pending", mode: "private", depositAmount: quote.inputAmount });

  const due = units(body.depositAmount, 6);
  await world.deposit(body.ephemeralAddress, { usdc: due });
  await world.settle();

  const transaction = await world.service.transaction(caller, body.transactionId);
  expect(transaction).toMatchObject({ status: "completed", fee: quote.fee, refunds: [] });
  expect(transaction.recipients).toMatchObject([{ status: "paid" }]);
  expect(await world.held(bob.address)).toEqual([1_000_000_000n, 5_000_000n, 0n]);
  expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
  const [, earned] = await world.held(world.treasury.address);
  expect(earned).toBe(due - 5_000_000n);
});
