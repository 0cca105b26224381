/** What happens between two questions of one look, and lists that never end. */
// modules: private
import { expect } from "vitest";
import type { Ledger } from "../../../src/ledger/ledger.ts";
import { BY } from "../../kit/by.ts";
import type { Scene, scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** The ledger of a scene's service, to be told otherwise. */
async function withLedger(
  open: (...options: Parameters<typeof scene>) => Promise<Scene>,
): Promise<readonly [Scene, Ledger]> {
  const ledgers: Ledger[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    const ledger = ledgerOf([{ url: "http://local", fetch: chain.fetch }]);
    ledgers.push(ledger);
    return ledger;
  });
  const [ledger] = ledgers;
  if (ledger === undefined) throw new Error("a scene is opened with its ledger");
  return [world, ledger];
}

test("C31: a go that lands while a look waits for the height is no end without a decision", async ({
  open,
}) => {
  const [world, ledger] = await withLedger(open);
  const { chain, service, storage, bob } = world;
  const carol = world.wallet("carol", { lamports: 0n });
  // Of so little nothing goes back to a sender without an account.
  const { body } = await world.order(world.customer, {
    sender: carol,
    to: [{ address: bob.address, amount: "0.05" }],
  });
  const { broadcast, readOrder } = ledger;
  Object.assign(ledger, { broadcast: async () => {} });
  chain.fund(body.ephemeralAddress, { usdc: BigInt(Math.round(Number(body.depositAmount) * 1e6)) });
  await world.settle(3);
  const id = body.transactionId;
  const [go] = await storage.attemptsOf(`${id}:0`);
  if (go === undefined) throw new Error("a go is signed");
  let isHeldUp = false;
  const heldUp: typeof readOrder = async (query, commitment) => {
    const reading = await readOrder.call(ledger, query, commitment);
    if (isHeldUp || commitment !== "finalized" || (await storage.order(id))?.state !== "refusing") {
      return reading;
    }
    isHeldUp = true;
    await broadcast.call(ledger, go.bytes);
    chain.advance(500);
    return reading;
  };
  Object.assign(ledger, { readOrder: heldUp });
  await service.operator.resolve(id, { action: "decline" }, BY);
  await service.operator.approve(id, {}, BY);
  await service.settled();
  expect(isHeldUp).toBe(true);
  Object.assign(ledger, { broadcast });
  for (let minutes = 0; minutes < 5; minutes += 1) await world.passAndSettle(60_000, 2);
  expect((await world.held(bob.address))[1]).toBe(50_000n);
  expect(await service.transaction(world.customer, id)).toMatchObject({ status: "completed" });
});

test("an order whose list of transactions never ends is completed, and what is left goes back", async ({
  open,
}) => {
  const [world, ledger] = await withLedger(open);
  const { changesOfOrder } = ledger;
  let asked = 0;
  const endless: typeof changesOfOrder = async (query, since) => {
    asked += 1;
    const read = await changesOfOrder.call(ledger, query, since);
    return Object.assign(read, { changes: [], more: since });
  };
  Object.assign(ledger, { changesOfOrder: endless });
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due + 2_000_000n });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [{ status: "paid" }] });
  expect(asked).toBeLessThan(10);
});

test("K17: a cancel is refused whose reading is older than a deposit that was counted since", async ({
  open,
}) => {
  const [world, ledger] = await withLedger(open);
  const { service, customer } = world;
  const order = await world.sendTo();
  const { readOrder } = ledger;
  let isPaid = false;
  const late: typeof readOrder = async (query, commitment) => {
    const reading = await readOrder.call(ledger, query, commitment);
    if (isPaid || commitment !== "processed") return reading;
    isPaid = true;
    await world.deposit(order.address, { usdc: 1_000_000n });
    return reading;
  };
  Object.assign(ledger, { readOrder: late });
  await expect(service.cancelTransaction(customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
  });
  expect(await world.shown(order)).toMatchObject({ status: "pending", received: [{ amount: "1" }] });
});
