/** The service's own wallets as an operator sees them: what is free, how long it lasts, and an alert before it is gone. */
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { deskProvider } from "../../../src/payments/swap/desk/desk-provider.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { lowPurses } from "../../../src/payments/operator/attention/host-matters.ts";
import { PurseWatch, type PurseBody, type PurseOptions } from "../../../src/payments/frame/purses/purses.ts";
import { deskPurse, sponsorPurse, spentInADay as spentToday } from "../../../src/payments/frame/spending.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { living } from "../../service/late-node.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { createPaymentService } from "../../../src/service/create-payment-service.ts";
import { silentLogger } from "../../../src/core/runtime.ts";
import { solAt150, units } from "../../kit/money.ts";
import type { SwapFixture } from "../../kit/swap-fixture.ts";
import { swapTest } from "../../kit/swap-test.ts";

/** Alice, who swaps and orders, and a node that can be silenced. */
interface Stage extends SwapFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly node: { isSilent: boolean };
}

const test = swapTest.extend("world", async ({ world }): Promise<Stage> => {
  const customer = await world.caller();
  const alice = world.wallet("alice", { lamports: 10_000_000_000n, usdc: 1_000_000_000n });
  world.chain.advance(35);
  const node = { isSilent: false };
  world.chain.faults.add(() => (node.isSilent ? { kind: "refuse", status: 503 } : undefined));
  return { ...world, customer, alice, node };
});

function watchOf(world: Stage, more: Partial<PurseOptions> = {}): PurseWatch {
  return new PurseWatch({
    storage: world.storage,
    ledger: world.ledger,
    clock: world.clock,
    assets: assetsWith(world.mints),
    purses: {
      sponsor: world.sponsor.address,
      treasury: world.treasury.address,
      desk: world.desk,
      sponsorLowBelow: async () => 0n,
      deskLowBelow: new Map(),
      ...more,
    },
  });
}

const of = (purses: readonly PurseBody[], purse: string, asset: string): PurseBody => {
  const found = purses.find((each) => each.purse === purse && each.asset === asset);
  if (found === undefined) throw new Error(`there is no ${purse} of ${asset}`);
  return found;
};

test("every purse is told with its balance, before anything was spent", async ({ world }) => {
  const purses = await watchOf(world).read();
  expect(purses.map(({ purse, asset }) => `${purse} ${asset}`)).toEqual([
    "sponsor SOL",
    ...["treasury SOL", "treasury USDC", "treasury USDT"],
    ...["desk SOL", "desk USDC", "desk USDT"],
  ]);
  expect(of(purses, "sponsor", "SOL")).toMatchObject({
    address: world.sponsor.address,
    balance: "10",
    reserved: "0",
    spentInADay: "0",
    lastsUntil: null,
    isLow: false,
  });
  expect(of(purses, "treasury", "SOL")).toMatchObject({ balance: "1", lowBelow: null, isLow: false });
  expect(of(purses, "desk", "USDC")).toMatchObject({ balance: "150000", lowBelow: "0.01", isLow: false });
});

test("Q20: health tells what the purses hold, and when that was read; while the chain is silent the last reading", async ({
  world,
}) => {
  const { service, clock, node } = world;
  const { purses: first } = await service.health();
  expect(first).toEqual({
    readAt: new Date(clock.now()).toISOString(),
    held: await service.operator.purses(),
  });
  node.isSilent = true;
  clock.advance(6 * 60_000);
  expect((await living(clock, service.health())).purses).toEqual(first);
});

test("Q20: health of a service without purses tells none", async ({ world }) => {
  const alone = createPaymentService({
    storage: world.storage,
    ledger: world.ledger,
    clock: world.clock,
    masterSecrets: [TEST_MASTER_SECRET],
    stablecoins: world.mints,
    logger: silentLogger,
  });
  expect(await alone.operator.purses()).toEqual([]);
  expect(await alone.health()).not.toHaveProperty("purses");
});

// modules: private
test("what an order reserves, and what it has cost, is told; and how long the rest lasts", async ({
  world,
}) => {
  const { alice } = world;
  const to = [{ address: world.wallet("bob", { lamports: 1_000_000_000n }).address, amount: "5" }];
  const { body } = await world.order(world.customer, { sender: alice, to });
  const open = of(await watchOf(world).read(), "sponsor", "SOL");
  expect(units(open.reserved, 9)).toBeGreaterThan(0n);
  expect(open.spentInADay).toBe("0");

  await world.deposit(body.ephemeralAddress, { usdc: 6_000_000n });
  await world.settle(10);
  const {
    balance,
    reserved,
    spentInADay: spent,
    lastsUntil,
  } = of(await watchOf(world).read(), "sponsor", "SOL");
  expect(reserved).toBe("0");
  expect(units(spent, 9)).toBe(
    await spentToday(world.storage, sponsorPurse(world.sponsor.address), world.clock.now()),
  );
  // Two orders of magnitude more than a year at this rate.
  expect(units(balance, 9) / units(spent, 9)).toBeGreaterThan(365n);
  expect(lastsUntil).toBeNull();
});

// modules: private
test("what the desk gives is told as promised and then as given, in both modes, and when it will be gone", async ({
  world,
}) => {
  const { alice } = world;
  const quote = await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
  expect(of(await watchOf(world).read(), "desk", "USDC").reserved).toBe(quote.outputAmount);
  await world.service.createTransaction(world.customer, world.signed(quote, alice));
  await world.finalize();
  const given = units(quote.outputAmount, 6);
  expect(of(await watchOf(world).read(), "desk", "USDC")).toMatchObject({
    reserved: "0",
    spentInADay: quote.outputAmount,
  });

  const { body } = await world.orderSwap(world.customer, {
    sender: alice,
    give: "SOL",
    get: "USDC",
    amount: "2",
  });
  await world.deposit(body.ephemeralAddress, { lamports: units(body.depositAmount, 9) });
  await world.settle();
  const { recipients } = await world.service.transaction(world.customer, body.transactionId);
  const both = given + units(recipients[0]?.amount ?? "0", 6);
  const desk = of(await watchOf(world).read(), "desk", "USDC");
  expect(units(desk.spentInADay, 6)).toBe(both);
  expect(await spentToday(world.storage, deskPurse(world.desk, SOL_MINT), world.clock.now())).toBe(0n);
  const lastsDays = (Date.parse(desk.lastsUntil ?? "") - world.clock.now()) / 86_400_000;
  expect(lastsDays).toBeCloseTo(Number(units(desk.balance, 6)) / Number(both), 3);
});

test("a purse below its threshold is a matter, once and since the same time, until it is filled up", async ({
  world,
}) => {
  const watch = watchOf(world, { sponsorLowBelow: async () => 20_000_000_000n });
  const matters = lowPurses(watch);
  const since = world.clock.now();
  const [matter, ...others] = await matters(10);
  expect(others).toEqual([]);
  expect(matter).toMatchObject({ kind: "low_purse", id: "low_purse:sponsor SOL", since, actions: [] });
  expect(matter?.message).toContain(world.sponsor.address);
  await world.pass(5 * 60_000);
  expect(await matters(10)).toMatchObject([{ id: "low_purse:sponsor SOL", since }]);

  world.chain.fund(world.sponsor.address, { lamports: 10_000_000_000n });
  world.chain.advance(35);
  await world.pass(5 * 60_000);
  expect(await matters(10)).toEqual([]);
});

test("what is reserved is not free: it makes a purse low before it stops anything", async ({ world }) => {
  const { alice } = world;
  await world.quote(world.customer, { sender: alice, give: "SOL", get: "USDC", amount: "1" });
  const held = 150_000_000_000n;
  const promised = await world.promised("USDC");
  const at = (threshold: bigint) =>
    lowPurses(watchOf(world, { deskLowBelow: new Map([[world.mints.USDC as string, threshold]]) }))(10);
  expect(await at(held - promised)).toEqual([]);
  expect(await at(held - promised + 1n)).toMatchObject([{ id: "low_purse:desk USDC" }]);
});

test("without an option a sponsor is low when fifty sends at once do not fit any more", async ({ world }) => {
  const [lamports] = await world.held(world.sponsor.address);
  const isLow = async (): Promise<boolean> => {
    await world.pass(5 * 60_000);
    const { service, clock } = world;
    // The service reads by itself, and tells what it read before until it has the answer.
    const readAt = async () => (await service.health()).purses?.readAt;
    await expect.poll(readAt).toBe(new Date(clock.now()).toISOString());
    return (await service.operator.attention()).some(({ id }) => id === "low_purse:sponsor SOL");
  };
  expect(await isLow()).toBe(false);
  await world.move(world.sponsor, {
    does: "transfer",
    mint: null,
    decimals: 9,
    amount: lamports - 10_000_000n,
    accountPayer: null,
    from: world.sponsor.address,
    to: world.treasury.address,
  });
  expect(await isLow()).toBe(true);
});

test("the chain is read once in five minutes at most, and while it is silent what was read last is told", async ({
  world,
}) => {
  const matters = lowPurses(watchOf(world, { sponsorLowBelow: async () => 20_000_000_000n }));
  await matters(10);
  world.node.isSilent = true;
  expect(await matters(10)).toHaveLength(1);
  await world.pass(5 * 60_000);
  const asked = matters(10);
  for (let wait = 0; wait < 100; wait++) {
    await new Promise((resolve) => setImmediate(resolve));
    world.clock.advance(250);
  }
  expect(await asked).toHaveLength(1);
});

test("a service without private mode and without a desk has no purses", async ({ world }) => {
  const none = { sponsor: null, treasury: null, desk: null };
  expect(await watchOf(world, none).read()).toEqual([]);
  expect(await lowPurses(watchOf(world, none))(10)).toEqual([]);
});

// modules: private
test("the service tells its purses by the thresholds of its options, which are checked", async ({
  world,
}) => {
  const provider = deskProvider({ desk: keypairSigner(world.deskWallet.secretKey) });
  const privateRouting = {
    sponsor: keypairSigner(world.sponsor.secretKey),
    treasury: world.treasury.address,
    prices: solAt150(world),
    lowBalance: "10.5",
  };
  const swap = { provider, lowBalance: { USDC: "150000.000001" } };
  const purses = await world.another({ privateRouting, swap }).operator.purses();
  expect(of(purses, "sponsor", "SOL")).toMatchObject({ lowBelow: "10.5", isLow: true });
  expect(of(purses, "desk", "USDC")).toMatchObject({ lowBelow: "150000.000001", isLow: true });
  expect(of(purses, "desk", "SOL")).toMatchObject({ lowBelow: "0.01", isLow: false });

  expect(() => world.another({ swap: { provider, lowBalance: { EUR: "1" } } })).toThrow(
    "swap.lowBalance.EUR",
  );
  const wrong = { ...privateRouting, lowBalance: "none" };
  expect(() => world.another({ privateRouting: wrong })).toThrow(
    "privateRouting.lowBalance: expected an amount",
  );
});

test("no more matters are told than asked for", async ({ world }) => {
  const deskLowBelow = new Map(
    [SOL_MINT, world.mints.USDC, world.mints.USDT].map((mint) => [mint as string, 10n ** 18n]),
  );
  const watch = watchOf(world, { deskLowBelow });
  expect(await lowPurses(watch)(2)).toHaveLength(2);
  expect(await lowPurses(watch)(10)).toHaveLength(3);
});
