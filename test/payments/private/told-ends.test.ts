/** What a recovery journal says of an order's end, on a database that was set back to before it: nothing of the order is paid. */
// modules: private
import { expect, test } from "vitest";
import type { JournalLine, RecoveryJournal } from "../../../src/payments/private/recovery/journal.ts";
import { units } from "../../kit/money.ts";
import { BY } from "../../kit/by.ts";
import { garbles } from "./lying-nodes.ts";
import { mattersOf, open, owned, shown, startOn } from "./restored-world.ts";

const MINUTE = 60_000;

/** A journal that outlives every database. */
function keptJournal(): RecoveryJournal {
  const lines: JournalLine[] = [];
  return {
    write: async (line) => void lines.push(line),
    async endOf(id) {
      for (const line of lines) if (line.id === id && "status" in line) return line;
      return null;
    },
    async *read() {
      yield* lines;
    },
  };
}

test("C31: an order that was told as declined pays nobody, on a database in which it is about to be paid", async () => {
  const world = await open({ recovery: keptJournal() });
  const { customer, bob, copies, nodes, chain, clock } = world;
  // What goes back has to bear the making of an account, which is more than all of the deposit.
  const sender = world.wallet("newcomer", { lamports: 1_000_000_000n });
  const { body } = await world.order(customer, { sender, to: [{ address: bob.address, amount: "0.01" }] });
  const order = { id: body.transactionId, address: body.ephemeralAddress };
  const ends = nodes.map((node) => node.tell(garbles("simulateTransaction")));
  await world.deposit(order.address, { usdc: units(body.depositAmount, 6) });
  await world.settle(2);
  expect(await world.service.transaction(customer, order.id)).toMatchObject({ status: "processing" });
  const copy = copies.at(-1) ?? new Uint8Array();
  await world.service.operator.resolve(order.id, { action: "decline" }, BY);
  for (let look = 0; look < 4; look++) {
    chain.advance(80);
    await world.pass(MINUTE);
  }
  expect(await world.service.transaction(customer, order.id)).toMatchObject({
    status: "failed",
    reason: "DECLINED",
  });
  await world.service.stop();
  for (const end of ends) end();

  clock.advance(MINUTE);
  const restored = await startOn(world, copy);
  for (let look = 0; look < 4; look++) await restored.pass(2 * MINUTE);
  expect(await shown(restored, world, order as never)).toMatchObject({
    status: "failed",
    reason: "DECLINED",
    recipients: [{ status: "unpaid" }],
  });
  expect(await owned(world, bob)).toBe(1n);
  expect(await mattersOf(restored)).toEqual([]);
});

test("an order whose end is being written down asks for no money any more", async () => {
  const journal = keptJournal();
  let isDown = false;
  const write: RecoveryJournal["write"] = async (line) => {
    if (isDown && "status" in line) throw new Error("the journal is full");
    await journal.write(line);
  };
  const world = await open({ recovery: { ...journal, write } });
  const { customer, alice, bob, service } = world;
  const { body } = await world.order(customer, {
    sender: alice,
    to: [{ address: bob.address, amount: "3" }],
  });
  expect((await service.transaction(customer, body.transactionId)).paymentUri).toContain("solana:");
  isDown = true;
  await expect(service.cancelTransaction(customer, body.transactionId)).rejects.toThrow(
    "the journal is full",
  );
  expect(await service.transaction(customer, body.transactionId)).toMatchObject({
    status: "pending",
    paymentUri: null,
  });
  isDown = false;
  await world.pass(MINUTE);
  expect(await service.transaction(customer, body.transactionId)).toMatchObject({ status: "cancelled" });
});
