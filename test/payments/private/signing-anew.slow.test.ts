/** M23: marked words are signed anew once enough witnesses are past their last height, or five minutes later. */
import { expect, test as vitestTest } from "vitest";
import { deathOf } from "../../../src/payments/outgoing/signing-anew.ts";
import type { Address } from "../../../src/address.ts";
import { ORDER_WORDS } from "../../../src/payments/outgoing/plans/words.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { readPlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import type { AttemptRecord } from "../../../src/payments/tables/payments.ts";
import {
  asksFee,
  freezesHeight,
  inventsMarker,
  isAhead,
  reportsFinalized,
  swallowsBytes,
} from "./lying-nodes.ts";
import { MINUTE, type Ordered } from "./scene.ts";
import { twoNodesTest as test, type TwoNodes } from "./two-nodes.ts";

vitestTest(
  "M23: enough witnesses past the last height is death; one of them is, five minutes after the signing",
  () => {
    const version = { lastValidBlockHeight: 500, createdAt: 1_000 };
    const at = (agreed: number, highest: number, minutes: number): string =>
      deathOf(version, { agreed, highest }, 1_000 + minutes * MINUTE);
    expect(at(500, 900, 0)).toBe("none");
    expect(at(501, 501, 0)).toBe("agreed");
    expect(at(500, 501, 5)).toBe("presumed");
    expect(at(500, 501, 4.99)).toBe("none");
    expect(at(500, 500, 60)).toBe("none");
    // A clock that was set back tells nothing of how long the version is waited for.
    expect(at(500, 501, -60)).toBe("presumed");
  },
);

async function payoutOf(
  world: TwoNodes,
  { id }: Ordered,
): Promise<{ attempts: number; costs: number; presumed: number }> {
  const { payments = [] } = (await world.storage.transaction(id)) ?? {};
  const payout = payments.find(({ kind }) => kind === "payout");
  const { signatures = [], costs = [], presumed = [] } = readPlan(payout?.plan ?? "{}");
  return { attempts: signatures.length, costs: costs.length, presumed: presumed.length };
}

async function newestOf(world: TwoNodes, { id }: Ordered): Promise<AttemptRecord> {
  const { payments = [] } = (await world.storage.transaction(id)) ?? {};
  const signature = payments.find(({ kind }) => kind === "payout")?.signature ?? "";
  const [attempt] = await world.storage.attempts([signature]);
  if (attempt === undefined) throw new Error("a payout is signed");
  return attempt;
}

/** An order whose payout is signed and swallowed by both nodes. */
async function lostPayout(
  world: TwoNodes,
): Promise<{ readonly order: Ordered; readonly deliver: () => void }> {
  const order = await world.sendTo();
  const ends = world.nodes.map((node) => node.tell(swallowsBytes));
  await world.deposit(order.address, { usdc: order.due });
  await world.service.settled();
  world.chain.advance(3);
  await world.service.settled();
  expect((await payoutOf(world, order)).attempts).toBe(1);
  return {
    order,
    deliver: () =>
      ends.forEach((end) => {
        end();
      }),
  };
}

/** Lets minutes pass until the payout is signed once more, ten at most. */
async function minutesToSecond(world: TwoNodes, order: Ordered): Promise<number> {
  for (let minutes = 1; minutes <= 10; minutes += 1) {
    await world.passAndSettle(MINUTE, 2);
    if ((await payoutOf(world, order)).attempts > 1) return minutes;
  }
  return Infinity;
}

test("M23: an endpoint that is stuck delays signing anew by five minutes, and the order is paid once", async ({
  world,
}) => {
  const { order, deliver } = await lostPayout(world);
  const unfreeze = world.nodes[1].tell(await freezesHeight(world.chain));
  const minutes = await minutesToSecond(world, order);
  expect(minutes).toBeGreaterThanOrEqual(4);
  expect(minutes).toBeLessThanOrEqual(7);
  // What is presumed dead may land: its fee is counted until endpoints agree.
  expect(await payoutOf(world, order)).toMatchObject({ costs: 2, presumed: 1 });
  deliver();
  unfreeze();
  await world.passAndSettle(3 * MINUTE, 3);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("M23: an endpoint that contradicts about the marker delays signing anew by five minutes, and nothing is planned anew", async ({
  world,
}) => {
  const { order, deliver } = await lostPayout(world);
  const keys = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
  const seed = keys.seed({ masterVersion: TEST_MASTER_SECRET.version, transactionId: order.id }, ORDER_WORDS);
  const marker = world.ledger.markerAddress(order.address as Address, seed);
  const agree = world.nodes[1].tell(inventsMarker(marker, order.address));
  expect(await minutesToSecond(world, order)).toBeLessThanOrEqual(8);
  const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
  expect(payments).toHaveLength(1);
  deliver();
  agree();
  await world.passAndSettle(5 * MINUTE, 3);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("M23: an error that one endpoint tells of bytes presumed dead explains nothing: the same words are signed anew", async ({
  world,
}) => {
  const { order, deliver } = await lostPayout(world);
  const unfreeze = world.nodes[1].tell(await freezesHeight(world.chain));
  // As if the payee's account belonged to somebody else.
  const stop = world.nodes[0].tell(reportsFinalized({ InstructionError: [5, { Custom: 0 }] }));
  expect(await minutesToSecond(world, order)).toBeLessThanOrEqual(8);
  const { payments = [] } = (await world.storage.transaction(order.id)) ?? {};
  expect(payments).toHaveLength(1);
  stop();
  deliver();
  unfreeze();
  await world.passAndSettle(5 * MINUTE, 3);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("M23: attempts that are presumed dead and fill the order's cap wait for endpoints to agree, and nobody is asked", async ({
  world,
}) => {
  const { order, deliver } = await lostPayout(world);
  const unfreeze = world.nodes[1].tell(await freezesHeight(world.chain));
  const ends = world.nodes.map((node) => node.tell(asksFee(8_000_000)));
  for (let minutes = 0; minutes < 60; minutes += 6) await world.passAndSettle(6 * MINUTE, 2);
  const waiting = await payoutOf(world, order);
  expect(waiting.attempts).toBeGreaterThan(1);
  for (let minutes = 0; minutes < 60; minutes += 6) await world.passAndSettle(6 * MINUTE, 2);
  expect(await payoutOf(world, order)).toEqual(waiting);
  expect((await world.storage.deposits([order.address]))[0]?.heldReason).toBeNull();
  deliver();
  unfreeze();
  for (let minutes = 0; minutes < 60; minutes += 6) await world.passAndSettle(6 * MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await payoutOf(world, order)).toMatchObject({ costs: 1, presumed: 0 });
  for (const end of ends) end();
  await world.judge();
});

test("M23: the stored last height is 151 above the highest that any endpoint tells, at most 300 above the next one", async ({
  world,
}) => {
  const height = (): number => world.chain.blockHeight();
  const end = world.nodes[1].tell(isAhead(100, "confirmed"));
  const [before, { order }] = [height(), await lostPayout(world)];
  const { lastValidBlockHeight } = await newestOf(world, order);
  expect(lastValidBlockHeight).toBeGreaterThanOrEqual(before + 100 + 151);
  expect(lastValidBlockHeight).toBeLessThanOrEqual(height() + 100 + 151);
  end();
  const mad = world.nodes[1].tell(isAhead(1_000_000, "confirmed"));
  const again = await lostPayout(world);
  expect((await newestOf(world, again.order)).lastValidBlockHeight).toBeLessThanOrEqual(height() + 300 + 151);
  mad();
});
