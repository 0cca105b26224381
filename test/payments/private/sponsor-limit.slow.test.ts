/** What the sponsor may spend within a day: counted when an order is taken, and never in the way of what is under way. */
// modules: private
import { expect } from "vitest";
import { formatAmount } from "../../../src/core/amount.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { sponsorPurse, spentInADay } from "../../../src/payments/frame/spending.ts";
import { TOKEN_ACCOUNT_BYTES } from "../../../src/ledger/routing.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { passTime } from "../../kit/pass-time.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { solAt150 } from "../../kit/money.ts";
import { expectRefusal } from "../wallet/wallet-world.ts";
import { privateTest } from "../../kit/private-test.ts";

const HOUR_MS = 60 * 60_000;

/** Alice orders payments to Bob, at the sponsor's cost. */
interface Stage extends PrivateFixture {
  readonly customer: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
}

const test = privateTest.extend("world", async ({ world }): Promise<Stage> => ({
  ...world,
  customer: await world.caller(),
  alice: world.wallet("alice", { lamports: 1_000_000_000n }),
  bob: world.wallet("bob", { lamports: 1_000_000_000n }),
}));

const order = (world: Stage) =>
  world.order(world.customer, { sender: world.alice, to: [{ address: world.bob.address, amount: "5" }] });
const spent = (world: Stage) =>
  spentInADay(world.storage, sponsorPurse(world.sponsor.address), world.clock.now());
const reserved = async (world: Stage): Promise<bigint> =>
  (await world.storage.reservations(sponsorPurse(world.sponsor.address))).reduce(
    (sum, { amount }) => sum + amount,
    0n,
  );

/** The most that one order may cost. */
async function worstCase(world: Stage): Promise<bigint> {
  const { body } = await order(world);
  const amount = await reserved(world);
  await world.service.cancelTransaction(world.customer, body.transactionId);
  await world.settle();
  expect(await reserved(world)).toBe(0n);
  return amount;
}

/** The same world under a limit. */
async function limited(world: Stage, lamports: bigint) {
  const { bob, alice } = world;
  const service = world.another({
    privateRouting: {
      sponsor: keypairSigner(world.sponsor.secretKey),
      treasury: world.treasury.address,
      prices: solAt150(world),
      maxSponsorSpendPerDay: formatAmount(lamports, 9),
    },
  });
  await world.service.stop();
  await service.start();
  const take = async () => {
    const recipients = [{ address: bob.address, amount: "5" }];
    const { body: quote } = await service.createQuote(world.customer, {
      inputAsset: "USDC",
      outputAsset: "USDC",
      amount: "5",
      mode: "private",
      recipients,
    });
    const { body } = await service.createTransaction(world.customer, {
      type: "send",
      mode: "private",
      quoteId: quote.quoteId,
      sender: alice.address,
      recipients,
    });
    return body as Awaited<ReturnType<typeof order>>["body"];
  };
  /** `world.pass` waits for the service that is stopped. */
  const pass = (ms: number): Promise<void> => {
    const at = { clock: world.clock, engine: service, storage: world.storage, workflows: service.workflows };
    return passTime(at, world.clock.now() + ms);
  };
  /** Until the order's address is empty. */
  const finish = async (): Promise<void> => {
    for (let round = 0; round < 16; round++) {
      await service.settled();
      world.chain.advance(round === 0 ? 2 : 200);
      await pass(round < 6 ? 1_000 : 10 * 60_000);
    }
  };
  return { service, take, finish, pass };
}

const atCapacity = { reason: "capacity" } as const;

test("what the sponsor lays out for a send is on record, to the lamport", async ({ world }) => {
  world.chain.advance(35);
  const [before] = await world.held(world.sponsor.address);
  const { body } = await order(world);
  expect(await spent(world)).toBe(0n);
  await world.deposit(body.ephemeralAddress, { usdc: 6_000_000n });
  await world.settle(10);
  expect(await reserved(world)).toBe(0n);
  const [after] = await world.held(world.sponsor.address);
  expect(await spent(world)).toBeGreaterThan(0n);
  // The rent of the address's own account, which the depositor has paid, comes back to the sponsor.
  const back = await world.ledger.rentMinimum(TOKEN_ACCOUNT_BYTES);
  expect(before - after).toBe((await spent(world)) - back);
  await world.pass(24 * HOUR_MS);
  expect(await spent(world)).toBe(0n);
});

test("at the limit a new order is refused for capacity, and nothing of it is kept", async ({ world }) => {
  const one = await worstCase(world);
  const { service, take } = await limited(world, one * 2n);
  const first = await take();
  await take();
  await expectRefusal(take(), "ROUTING_UNAVAILABLE", atCapacity);
  expect(await reserved(world)).toBe(one * 2n);
  await service.cancelTransaction(world.customer, first.transactionId);
  await service.stop();
});

test("of many orders at once no more are taken than the limit has room for", async ({ world }) => {
  const one = await worstCase(world);
  const { service, take } = await limited(world, one * 3n);
  const results = await Promise.allSettled(Array.from({ length: 8 }, take));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  expect(await reserved(world)).toBe(one * 3n);
  await service.stop();
});

test("what was spent within 24 hours counts, what is under way goes on, and a day later there is room again", async ({
  world,
}) => {
  const one = await worstCase(world);
  const { service, take, finish, pass } = await limited(world, one);
  const { transactionId, ephemeralAddress } = await take();
  world.chain.fund(ephemeralAddress, { usdc: 6_000_000n });
  world.chain.advance(35);
  await finish();
  const shown = await service.transaction(world.customer, transactionId);
  expect(shown).toMatchObject({ status: "completed" });
  expect(await reserved(world)).toBe(0n);
  expect(await spent(world)).toBeGreaterThan(0n);
  await expectRefusal(take(), "ROUTING_UNAVAILABLE", atCapacity);
  await pass(24 * HOUR_MS);
  await take();
  expect(await reserved(world)).toBeGreaterThan(0n);
  await service.stop();
});

test("a limit is an amount of SOL, and one that no order fits is said at the start", async ({ world }) => {
  const routing = (maxSponsorSpendPerDay: string) => ({
    sponsor: keypairSigner(world.sponsor.secretKey),
    treasury: world.treasury.address,
    prices: solAt150(world),
    maxSponsorSpendPerDay,
  });
  for (const wrong of ["0", "-1", "1e3", "0.0000000001", ""]) {
    const make = () => world.another({ privateRouting: routing(wrong) });
    expect(make, wrong).toThrow("privateRouting.maxSponsorSpendPerDay: expected an amount of SOL");
  }
  const said: string[] = [];
  const warn = (_: object, message: string) => void said.push(message);
  const logger = { debug() {}, info() {}, error() {}, warn };
  const service = world.another({ privateRouting: routing("0.000001"), logger });
  await service.start();
  await service.stop();
  expect(said).toEqual([
    expect.stringContaining("privateRouting.maxSponsorSpendPerDay is less than one send"),
  ]);
});
