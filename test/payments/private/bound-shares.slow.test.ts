/** What the orders of one account bind of the sponsor once they were paid for, and for how long. */
import { afterEach, describe, expect, test } from "vitest";
import { TOKEN_ACCOUNT_BYTES } from "../../../src/ledger/routing.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { ScreenAddress } from "../../../src/payments/recipients/recipients.ts";
import type { ReservationRecord } from "../../../src/payments/tables/limits.ts";
import type { PrivateRoutingOptions } from "../../../src/service/payment-service-options.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import { drawn } from "../../kit/thorough.ts";
import { HOUR, MINUTE, orderedAs, sceneOn, SOL, type Ordered, type Scene } from "./scene.ts";

/** Several orders with payouts, and hours to pass, on a database that may be far away. */
const LONG = 120_000;

const FULL = { code: "ROUTING_UNAVAILABLE", details: { reason: "capacity", retryAfter: 30 } };

let world: Scene;
const refused = new Set<string>();

afterEach(async () => {
  refused.clear();
  await world.close();
});

async function openWorld(adapter: Adapter, routing: Partial<PrivateRoutingOptions> = {}): Promise<void> {
  world = await sceneOn(adapter, {}, routing);
}

/** Serves all but those that are refused. */
const screen: ScreenAddress = async (address) => (refused.has(address) ? "refused" : "ok");

async function send(caller: Caller = world.customer): Promise<Ordered> {
  const to = [{ address: world.bob.address, amount: "5" }];
  const { body } = await world.order(caller, { sender: world.alice, to });
  return orderedAs(body);
}

/** Everything that still counts under this name. */
async function sumOf(resource: string): Promise<bigint> {
  return (await world.storage.reservations(resource)).reduce((sum, { amount }) => sum + amount, 0n);
}

const ofSponsor = () => sumOf(`sponsor ${world.sponsor.address}`);
const boundBy = ({ accountId }: Caller) => sumOf(`sponsor ${world.sponsor.address} bound by ${accountId}`);
const inADay = () => sumOf(`sponsor ${world.sponsor.address} in a day`);

async function boundRow({ id }: Ordered): Promise<ReservationRecord> {
  const row = await world.storage.reservation(`${id}:bound`);
  if (row === null) throw new Error(`nothing of ${id} is counted`);
  return row;
}

/** What one order reserves, and a sponsor with room for 105 of them: a free account waits with 2 and binds 4. */
async function roomFor105(): Promise<bigint> {
  // So that all orders are alike.
  await world.openAccount(world.bob, "USDC");
  const first = await send(await world.caller("enterprise"));
  const each = await ofSponsor();
  const [held] = await world.held(world.sponsor.address);
  await world.pay(world.sponsor, world.treasury.address, held - each * 105n);
  expect(each).toBe((await boundRow(first)).amount);
  return each;
}

/** A deposit by somebody who can be named. */
async function payFrom(name: string, order: Ordered, amount: bigint): Promise<string> {
  const payer = world.wallet(name, { lamports: 2n * SOL, usdc: 90_000_000n });
  await world.openAccount({ ...payer, address: order.address as never }, "USDC");
  await world.payTokens(payer, order.address, "USDC", amount);
  return payer.address;
}

/** Orders that a free account has paid for, as many as it may. */
async function fundAll(): Promise<readonly Ordered[]> {
  const orders: Ordered[] = [];
  for (let pair = 0; pair < 2; pair++) {
    const both = [await send(), await send()];
    await expect(send()).rejects.toMatchObject(FULL);
    for (const order of both) await world.deposit(order.address, { usdc: order.due });
    orders.push(...both);
  }
  await expect(send()).rejects.toMatchObject(FULL);
  return orders;
}

describe.each(drawn(adapters, "bound shares"))("on $name", (adapter) => {
  test(
    "M24: funded orders of a free account count until two hours after their payouts; another account's order is taken",
    { timeout: LONG },
    async () => {
      await openWorld(adapter);
      const each = await roomFor105();
      const orders = await fundAll();
      expect(await boundBy(world.customer)).toBe(each * 4n);
      await expect(send(await world.caller("free"))).resolves.toMatchObject({
        due: expect.any(BigInt) as bigint,
      });
      await world.passAndSettle(MINUTE, 10);
      for (const order of orders) expect(await world.shown(order)).toMatchObject({ status: "completed" });
      const ends = (await Promise.all(orders.map(boundRow))).map(({ lapsesAt }) => lapsesAt ?? 0);
      const paidAt = ends.map((end) => end - 2 * HOUR);
      const now = world.clock.now();
      for (const at of paidAt) expect(now - at).toBeLessThanOrEqual(2 * MINUTE);
      // Dust, and money that goes back.
      const [first] = orders;
      if (first === undefined) throw new Error("no order was taken");
      await world.deposit(first.address, { usdc: 3n });
      await world.deposit(first.address, { usdc: 2_000_000n });
      await world.sweep();
      await world.passAndSettle(Math.min(...ends) - 1 - world.clock.now(), 2);
      expect((await Promise.all(orders.map(boundRow))).map(({ lapsesAt }) => lapsesAt)).toEqual(ends);
      expect(await boundBy(world.customer)).toBe(each * 4n);
      await expect(send()).rejects.toMatchObject(FULL);
      await world.pass(Math.max(...ends) - world.clock.now());
      const last = await send();
      expect(await boundBy(world.customer)).toBe(each);
      await world.service.cancelTransaction(world.customer, last.id);
      await world.settle(2);
      expect(await boundBy(world.customer)).toBe(0n);
      await world.judge({ exceptSums: true });
    },
  );

  test("M24: an account with more room taken up than it has by now is served once all of that counts no longer", async () => {
    await openWorld(adapter);
    const each = await roomFor105();
    const now = world.clock.now();
    const resource = `sponsor ${world.sponsor.address} bound by ${world.customer.accountId}`;
    // Of a day on which the sponsor held more: without the first hundred they are still too much.
    const rows = Array.from({ length: 250 }, (_, index) => ({
      table: "reservations" as const,
      insert: {
        id: `before ${index}:bound`,
        version: 1,
        resource,
        amount: each / 20n,
        createdAt: now - 1,
        lapsesAt: now + HOUR,
        releasedAt: null,
      },
    }));
    expect(await world.storage.commit([{ writes: rows }])).toEqual([{ ok: true }]);
    await expect(send()).rejects.toMatchObject(FULL);
    await world.pass(HOUR);
    await send();
    expect(await boundBy(world.customer)).toBe(each);
  });

  test("M24: an order whose deposit goes back before anybody was paid counts until two hours after that", async () => {
    await openWorld(adapter);
    const order = await send();
    await world.deposit(order.address, { usdc: order.due - 1n });
    await world.passAndSettle(31 * MINUTE, 4);
    expect(await world.shown(order)).toMatchObject({ status: "failed", reason: "INCOMPLETE_DEPOSIT" });
    const { releasedAt, lapsesAt } = await boundRow(order);
    expect(releasedAt).toBeNull();
    expect(lapsesAt).toBeGreaterThan(world.clock.now() + HOUR);
    await world.judge();
  });

  test("M24: what an order reserves of the sponsor is the rent of its markers once it has paid, and nothing when they are gone", async () => {
    await openWorld(adapter);
    const order = await send();
    const before = await ofSponsor();
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(8);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    const rent = await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
    const standing = await ofSponsor();
    expect(standing).toBeGreaterThanOrEqual(rent);
    expect(standing).toBeLessThan(rent + 50_000n);
    expect(standing).toBeLessThan(before / 4n);
    await world.sweep();
    expect(await ofSponsor()).toBe(0n);
    expect((await boundRow(order)).releasedAt).toBeNull();
    await world.judge();
  });

  test(
    "M24: a cancelled order that gets a deposit counts for two hours, and its refund waits while the account binds its whole share",
    { timeout: LONG },
    async () => {
      await openWorld(adapter);
      await roomFor105();
      const cancelled = await send();
      await world.service.cancelTransaction(world.customer, cancelled.id);
      await world.settle(2);
      expect(await boundBy(world.customer)).toBe(0n);
      const orders = await fundAll();
      await world.deposit(cancelled.address, { usdc: 7_000_000n });
      await world.passAndSettle(11 * MINUTE, 6);
      await world.passAndSettle(11 * MINUTE, 6);
      expect((await world.shown(cancelled)).refunds).toEqual([]);
      expect(await world.stateOf(cancelled)).toBe("cooling");
      expect(await world.storage.reservation(`${cancelled.id}:late`)).toBeNull();
      const ends = (await Promise.all(orders.map(boundRow))).map(({ lapsesAt }) => lapsesAt ?? 0);
      await world.passAndSettle(Math.max(...ends) - world.clock.now(), 2);
      for (let rounds = 0; rounds < 2; rounds++) await world.passAndSettle(11 * MINUTE, 6);
      expect((await world.shown(cancelled)).refunds).toMatchObject([{ status: "paid" }]);
      const late = await world.storage.reservation(`${cancelled.id}:late`);
      expect(late?.lapsesAt).toBe((late?.createdAt ?? 0) + 2 * HOUR);
      expect(await boundBy(world.customer)).toBe(late?.amount);
      // More of it prolongs nothing.
      await world.deposit(cancelled.address, { usdc: 7_000_000n });
      await world.passAndSettle(11 * MINUTE, 6);
      expect(await boundBy(world.customer)).toBe(late?.amount);
      await world.judge({ exceptSums: true });
    },
  );

  test("M30: a held refund binds no more of the sponsor's money than a refund costs", async () => {
    await openWorld(adapter, { screen });
    const order = await send();
    const before = await ofSponsor();
    refused.add(await payFrom("refused", order, order.due - 1n));
    await world.passAndSettle(31 * MINUTE, 6);
    expect(await world.stateOf(order)).toBe("held");
    const rent = await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
    // Two markers, the receiver's account, itself with the highest bid, and its share of the sweep.
    const worst = rent * 3n + 40_000n + world.ledger.bidCeiling;
    expect(before).toBeGreaterThan(worst);
    expect(await ofSponsor()).toBeLessThanOrEqual(worst);
    expect(await ofSponsor()).toBeGreaterThanOrEqual(rent * 2n);
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.settle(8);
    await world.sweep();
    expect((await world.shown(order)).refunds).toMatchObject([{ status: "paid" }]);
    expect(await ofSponsor()).toBe(0n);
    await world.judge();
  });

  test("R11: a write-off frees the account's shares of the sponsor, and that of the day", async () => {
    await openWorld(adapter, { screen });
    const order = await send();
    refused.add(await payFrom("refused", order, order.due));
    await world.settle(4);
    expect(await world.stateOf(order)).toBe("heldBack");
    expect(await boundBy(world.customer)).toBe(await ofSponsor());
    expect(await inADay()).toBeGreaterThan(0n);
    await world.service.operator.resolve(`held:${order.address}`, { action: "writeOff" }, BY);
    expect([await ofSponsor(), await boundBy(world.customer), await inADay()]).toEqual([0n, 0n, 0n]);
    await world.passAndSettle(HOUR, 4);
    expect([await ofSponsor(), await boundBy(world.customer), await inADay()]).toEqual([0n, 0n, 0n]);
  });
});
