/** Reconciling: what came in is what went out, to the base unit, and the chain says so too. */
// modules: private
import fc from "fast-check";
import { expect } from "vitest";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { depositKeys } from "../../../src/payments/frame/secrets/deposit-keys.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { Reconciliation } from "../../../src/service/reconcile-service.ts";
import type { Address } from "../../../src/core/address.ts";
import type { Funds } from "../../../src/local/index.ts";
import { memoryStorage } from "../../kit/storages.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { BY } from "../../kit/by.ts";
import { spendElsewhere } from "./spend-elsewhere.ts";

const MINUTE = 60_000;

interface Ordered {
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly bob: Wallet;
  readonly id: string;
  readonly address: Address;
  readonly due: bigint;
}

async function orderFor(world: PrivateFixture, amount = "5"): Promise<Ordered> {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const bob = world.wallet("bob", { lamports: 1_000_000_000n });
  const { body } = await world.order(caller, { sender: alice, to: [{ address: bob.address, amount }] });
  return {
    caller,
    alice,
    bob,
    id: body.transactionId,
    address: body.ephemeralAddress as Address,
    due: units(body.depositAmount, 6),
  };
}

const sumsOf = ({ assets }: Reconciliation, asset: string) => assets.find((sums) => sums.asset === asset);

/** Moves USDC out of a deposit address as a thief with the master secret would, or another self of the database. */
function spendUsdc(world: PrivateFixture, ordered: Ordered, amount: bigint): Promise<string> {
  const [{ mints, sponsor }, to] = [world, ordered.bob.address];
  const spent = { mint: mints.USDC, decimals: 6, to, amount, accountPayer: sponsor.address };
  return spendElsewhere(world, ordered, spent);
}

test("E12: a send is explained at every slot of its way, in flight as well, and adds up at its end", async ({
  world,
}) => {
  const { address, due } = await orderFor(world);
  world.chain.fund(address, { usdc: due });
  for (let slot = 0; slot < 120; slot += 4) {
    world.chain.advance(4);
    // Before and after the service has heard of it.
    expect(await world.service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
    await world.service.settled();
    expect(await world.service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
  }
  const reconciliation = await world.service.reconcile();
  expect(reconciliation).toMatchObject({ addresses: 1, isExplained: true });
  const fee = due - 5_000_000n;
  expect(sumsOf(reconciliation, "USDC")).toEqual({
    asset: "USDC",
    deposits: `5.${fee}`,
    arriving: "0",
    payouts: "5",
    fees: `0.${fee}`,
    refunds: "0",
    leaving: "0",
    writtenOff: "0",
    missing: "0",
    held: "0",
  });
});

test("R20: recipients who are shown as paid, and whom no marker pays, are a contradiction", async ({
  world,
}) => {
  const ordered = await orderFor(world);
  const id = `${ordered.id}:0`;
  await world.storage.commit([{ writes: [{ table: "recipients", id, set: { status: "paid" } }] }]);
  expect((await world.service.reconcile()).findings[0]?.findings).toEqual([
    { finding: "contradiction", status: "pending", recipients: [ordered.bob.address] },
  ]);
});

test("C19: a marker of a length that this service never makes is a finding, and pays nobody in any sum", async ({
  world,
}) => {
  const ordered = await orderFor(world);
  const keys = depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);
  const forged = {
    does: "buy" as const,
    base: ordered.address,
    seed: "0",
    length: 77,
    payer: world.sponsor.address,
    lamports: await world.ledger.rentMinimum(77),
  };
  const unsigned = await world.ledger.buildTransaction({ feePayer: world.sponsor.address, moves: [forged] });
  const key = keys.signer({ masterVersion: 1, transactionId: ordered.id });
  const { bytes } = await signTransaction(unsigned, [keypairSigner(world.sponsor.secretKey), key]);
  await world.ledger.broadcast(bytes);
  world.chain.advance(35);
  const found = await world.service.reconcile();
  expect(found.isExplained).toBe(false);
  expect(found.findings[0]?.findings).toContainEqual({ finding: "unknown_marker", seed: "0", length: 77 });
  expect(sumsOf(found, "USDC")).toMatchObject({ payouts: "0", fees: "0" });
});

test("the sponsor's lamports that stay promised to an order at rest are found", async ({ world }) => {
  const ordered = await orderFor(world);
  await world.deposit(ordered.address, { usdc: ordered.due });
  await world.settle();
  await world.storage.commit([
    { writes: [{ table: "reservations", id: ordered.id, set: { releasedAt: null } }] },
  ]);
  expect(await world.service.reconcile()).toMatchObject({
    isExplained: false,
    findings: [{ findings: [{ finding: "open_reservation" }] }],
  });
});

test("a chain that cannot be read lets nothing be concluded", async ({ world }) => {
  const ordered = await orderFor(world);
  await world.deposit(ordered.address, { usdc: ordered.due - 1n });
  await spendUsdc(world, ordered, 2_000_000n);
  const silent = ledgerWith(world, {
    readOrder: () => Promise.reject(new LedgerUnavailable("no endpoint answers")),
  });
  await expect(world.another({ ledger: silent }).reconcile()).rejects.toThrow(LedgerUnavailable);
  expect((await world.storage.orderViews([ordered.id]))[0]?.levels.every(({ short }) => !short)).toBe(true);
});

function ledgerWith(world: PrivateFixture, changes: Partial<Ledger>): Ledger {
  return new Proxy(world.ledger, {
    get: (ledger, name, receiver) =>
      Reflect.get(name in changes ? changes : ledger, name, receiver) as unknown,
  });
}

test("L4: a total that differs from the rows that it counts is told, and counted anew", async ({ world }) => {
  const { storage } = world;
  let isWrong = true;
  const tally: typeof storage.tally = async (query) => {
    if (query.recount === true) isWrong = false;
    const found = await storage.tally(query);
    const isSponsors = JSON.stringify(query.equals ?? {}).includes(`"sponsor ${world.sponsor.address}"`);
    return isWrong && isSponsors ? { ...found, total: found.total + 7n } : found;
  };
  const service = world.another({ storage: { ...storage, tally } });
  const resource = `sponsor ${world.sponsor.address}`;
  expect(await service.reconcile()).toMatchObject({
    isExplained: true,
    mendedTotals: [{ resource, kept: "7", counted: "0" }],
  });
  expect(await service.reconcile()).toMatchObject({ mendedTotals: [] });
});

test("without private mode addresses that were handed out before cannot be reconciled, and that is said", async ({
  world,
}) => {
  await orderFor(world);
  const plain = world.another({ privateRouting: undefined as never });
  await expect(plain.reconcile()).rejects.toMatchObject({ code: "ROUTING_UNAVAILABLE" });
  const empty = world.another({ storage: await memoryStorage(), privateRouting: undefined as never });
  expect(await empty.reconcile()).toMatchObject({ isExplained: true, addresses: 0, purses: [] });
  await expect(plain.operator.resolve("tx_1", { action: "release" }, BY)).rejects.toThrow(
    "there is no matter tx_1",
  );
});

const ASSETS = ["SOL", "USDC", "USDT"] as const;
type Asset = (typeof ASSETS)[number];
const FUNDS: Readonly<Record<Asset, keyof Funds>> = { SOL: "lamports", USDC: "usdc", USDT: "usdt" };
const DECIMALS: Readonly<Record<Asset, number>> = { SOL: 9, USDC: 6, USDT: 6 };

interface Gift {
  readonly asset: Asset;
  readonly percent: number;
  readonly odd: bigint;
  readonly isLate: boolean;
}

const gift: fc.Arbitrary<Gift> = fc.record({
  asset: fc.constantFrom(...ASSETS),
  /** Of what is due, in percent, give or take a base unit or two. */
  percent: fc.constantFrom(0, 1, 40, 60, 100, 130),
  odd: fc.bigInt({ min: 1n, max: 9n }),
  /** Before the window's end or after it. */
  isLate: fc.boolean(),
});

const orders = fc.array(
  fc.record({
    asset: fc.constantFrom(...ASSETS),
    payees: fc.integer({ min: 1, max: 8 }),
    amount: fc.integer({ min: 10, max: 99 }).map((cents) => `0.${cents}`),
    gifts: fc.array(gift, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 3, maxLength: 4 },
);

test(
  "E12: deposits are payouts, fees, refunds and dust, to the base unit, whatever was sent when",
  { timeout: 120_000 },
  async ({ open }) => {
    await fc.assert(
      fc.asyncProperty(orders, async (chosen) => {
        const world = await open();
        const caller = await world.caller();
        const sent: Record<Asset, bigint> = { SOL: 0n, USDC: 0n, USDT: 0n };
        const rich = { lamports: 1_000_000_000n, usdc: 1_000_000_000n, usdt: 1_000_000_000n };
        world.chain.advance(35);
        const treasury = await world.held(world.treasury.address);
        const wallets: { readonly address: string; readonly role: "payouts" | "refunds" }[] = [];
        const posted: { address: string; due: bigint; gifts: readonly Gift[] }[] = [];
        for (const [number, { asset, payees, amount, gifts }] of chosen.entries()) {
          const sender = world.wallet(`sender ${number}`, rich);
          const to = Array.from({ length: payees }, (_, index) =>
            world.wallet(`payee ${number} ${index}`, rich),
          );
          wallets.push({ address: sender.address, role: "refunds" });
          wallets.push(...to.map(({ address }) => ({ address, role: "payouts" as const })));
          const { body } = await world.order(caller, {
            sender,
            asset,
            to: to.map(({ address }) => ({ address, amount })),
          });
          posted.push({
            address: body.ephemeralAddress,
            due: units(body.depositAmount, DECIMALS[asset]),
            gifts,
          });
        }
        const give = async (isLate: boolean): Promise<void> => {
          for (const { address, due, gifts } of posted) {
            for (const { asset, percent, odd } of gifts.filter((each) => each.isLate === isLate)) {
              // What a wallet could not be sent: less lamports than an account must hold.
              const amount = (due * BigInt(percent)) / 100n + odd + (asset === "SOL" ? 1_000_000n : 0n);
              world.chain.fund(address, { [FUNDS[asset]]: amount });
              sent[asset] += amount;
              world.chain.advance(7);
              expect(await world.service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
              await world.service.settled();
            }
          }
          await world.settle(8);
          expect(await world.service.reconcile()).toMatchObject({ isExplained: true, findings: [] });
        };
        await give(false);
        await world.pass(31 * MINUTE);
        await world.settle(8);
        await give(true);

        const reconciliation = await world.service.reconcile();
        expect(reconciliation).toMatchObject({ isExplained: true, findings: [], addresses: chosen.length });
        const held = await Promise.all(
          wallets.map(async ({ address, role }) => ({ role, funds: await world.held(address) })),
        );
        const earned = await world.held(world.treasury.address);
        const [, ...costs] = await world.held(world.sponsor.address);
        for (const [index, asset] of ASSETS.entries()) {
          const sums = sumsOf(reconciliation, asset);
          const read = (name: Exclude<keyof NonNullable<typeof sums>, "asset">): bigint =>
            sums?.[name] === "0" ? 0n : units(sums?.[name] ?? "", DECIMALS[asset]);
          const received = (role: "payouts" | "refunds"): bigint =>
            held
              .filter((each) => each.role === role)
              .reduce((sum, { funds }) => sum + (funds[index] ?? 0n) - 1_000_000_000n, 0n);
          // What the reconciliation says, and what the wallets of everybody else say.
          expect({ asset, deposits: read("deposits") + read("arriving") }).toEqual({
            asset,
            deposits: sent[asset],
          });
          expect({ asset, payouts: read("payouts") }).toEqual({ asset, payouts: received("payouts") });
          // What a refund costs is told as refunded, and is the sponsor's: of tokens; of lamports it pays as well.
          const back = received("refunds") + (asset === "SOL" ? 0n : (costs[index - 1] ?? 0n));
          const refunded = read("refunds");
          expect({ asset, isBack: asset === "SOL" ? refunded >= back : refunded === back }).toEqual({
            asset,
            isBack: true,
          });
          expect({ asset, kept: read("fees") }).toEqual({
            asset,
            kept: (earned[index] ?? 0n) - (treasury[index] ?? 0n),
          });
          expect(read("deposits") + read("arriving")).toBe(
            read("payouts") + read("refunds") + read("fees") + read("held"),
          );
        }
        await world.close();
      }),
      { numRuns: 3, endOnFailure: true },
    );
  },
);
