/** P11: tokens that are none of the assets are told at once: to the customer, and to the operator under attention. */
import { getAssociatedTokenAddressSync } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { expect, test as plain } from "vitest";
import type { Address } from "../../../src/address.ts";
import { formatAmount } from "../../../src/amount.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import { heard } from "../../../src/ledger/heard.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { assetsWith, MAINNET_STABLECOINS } from "../../../src/payments/assets/assets.ts";
import type { AttentionChange } from "../../../src/payments/operator/attention/matter-report-loop.ts";
import type { Matter } from "../../../src/payments/operator/attention/matter.ts";
import { StrayWatch } from "../../../src/payments/private/watch-strays.ts";
import type { WatchRecord } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { BY } from "../../kit/by.ts";
import { lyingAbout, oddEndpoint, type OddEndpoint } from "../../kit/odd-endpoints.ts";
import { sampled } from "../../kit/thorough.ts";
import { virtualClock } from "../../kit/virtual-clock.ts";
import { notedLook } from "../../kit/watch-look.ts";
import { foreignMint } from "./foreign-mint.ts";
import { addressAt } from "./watched-addresses.ts";
import { MINUTE, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

/** The endpoints that are asked where enough must agree. */
const WITNESSES = 2;
/** Longer than the pause between two looks at an address. */
const A_LOOK = 25_000;

const matters = async ({ service }: Pick<Scene, "service">): Promise<readonly Matter[]> =>
  (await service.operator.attention()).filter(({ kind }) => kind === "unexplained");

const matterOf = ({ address }: Ordered): string => `unexplained:tokens@${address}`;

/** Cancels what still waits, and judges what became of all. */
async function ended(world: Scene, ...orders: readonly Ordered[]): Promise<void> {
  for (const { id } of orders) await world.service.cancelTransaction(world.customer, id);
  await world.settle(2);
  await world.judge();
}

/** The lines of an address's ledger about mints that are none of the assets. */
async function linesOf(world: Pick<Scene, "storage" | "mints">, { address }: Ordered): Promise<string[]> {
  const ours = new Set<string>([world.mints.USDC, world.mints.USDT]);
  const entries = await world.storage.entries(address);
  return entries.filter(({ mint }) => !ours.has(mint)).map(({ kind, amount }) => `${kind} ${amount}`);
}

test.for(sampled(["token", "token-2022"] as const, "foreign mints that are told"))(
  "P11: a mint of the program %s is told while the order still waits, is a matter until it is returned, and moves nothing",
  async (program, { open }) => {
    const news: AttentionChange[] = [];
    const world = await open({ onAttention: (each) => void news.push(each) });
    const order = await world.sendTo();
    const { mint, give } = await foreignMint(world, program);
    await give(order.address, order.due);
    await world.pass(A_LOOK);
    expect(await world.shown(order)).toMatchObject({
      status: "pending",
      attention: null,
      remainingAmount: expect.not.stringMatching(/^0$/) as string,
      received: [
        { asset: mint, mint, amount: formatAmount(order.due, 6), decimals: 6, payer: null, counted: false },
      ],
    });
    expect(await matters(world)).toEqual([
      {
        kind: "unexplained",
        id: matterOf(order),
        transactionId: order.id,
        accountId: world.customer.accountId,
        since: expect.any(String) as string,
        message: expect.stringContaining(`paystate release ${order.id} --mint MINT`) as string,
        actions: ["drop"],
      },
    ]);
    await world.pass(MINUTE);
    expect(news.map(({ state, matter: { id } }) => [state, id])).toEqual([["waiting", matterOf(order)]]);
    // The right money is served as ever, and what was sent besides stays.
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
    expect(await matters(world)).toHaveLength(1);
    await world.sweep();
    await world.service.operator.returnTokens(order.id, { mint }, BY);
    await world.settle(8);
    expect(await matters(world)).toEqual([]);
    expect(await linesOf(world, order)).toEqual([`deposit ${order.due}`, `refund ${order.due}`]);
    await world.judge();
  },
);

test("P11: tokens that an issuer has frozen are told, and an account that holds nothing is not", async ({
  world,
}) => {
  const [order, other] = [await world.sendTo(), await world.sendTo()];
  const frozen = await foreignMint(world, "token");
  await frozen.give(order.address, 3n);
  await frozen.freeze(order.address);
  await frozen.give(other.address, 0n);
  await world.pass(A_LOOK);
  expect((await matters(world)).map(({ id }) => id)).toEqual([matterOf(order)]);
  await ended(world, order, other);
});

test("P11: of an order that is over it is told as soon, and a dropped matter comes back with the next tokens only", async ({
  world,
}) => {
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  expect(await world.stateOf(order)).toBe("lingering");
  const foreign = await foreignMint(world, "token");
  await foreign.giveBeside(order.address, 7n);
  await world.pass(A_LOOK);
  expect(await world.stateOf(order)).toBe("lingering");
  expect((await matters(world))[0]?.message).toContain(`${foreign.mint} (7 raw units)`);
  await world.service.operator.resolve(matterOf(order), { action: "drop" }, BY);
  await world.passAndSettle(3 * MINUTE, 2);
  expect(await matters(world)).toEqual([]);
  await foreign.giveBeside(order.address, 2n);
  await world.pass(A_LOOK);
  expect((await matters(world))[0]?.message).toContain(`${foreign.mint} (9 raw units)`);
  expect(await linesOf(world, order)).toEqual(["deposit 7", "deposit 2"]);
  await world.judge();
});

test("P11: a dozen worthless mints are one matter, ten of them are counted, and the looks after that write nothing", async ({
  world,
}) => {
  const [spammed, order] = [await world.sendTo(), await world.sendTo()];
  for (let index = 0; index < 12; index++) {
    await (await foreignMint(world, index % 2 === 0 ? "token" : "token-2022")).give(spammed.address, 1n);
  }
  await world.pass(A_LOOK);
  const [matter, ...others] = await matters(world);
  expect(others).toEqual([]);
  expect(matter?.message).toMatch(/\(1 raw units\), 7 more\. /);
  const written = (await world.storage.load(spammed.address))?.version;
  await world.pass(A_LOOK);
  await world.pass(A_LOOK);
  expect((await world.storage.load(spammed.address))?.version).toBe(written);
  expect(await linesOf(world, spammed)).toHaveLength(10);
  // What is sent to another address is told, too, behind the older one.
  await (await foreignMint(world, "token")).give(order.address, 1n);
  await world.pass(A_LOOK);
  expect((await matters(world)).map(({ id }) => id)).toEqual([matterOf(spammed), matterOf(order)]);
  await ended(world, spammed, order);
});

test("P11: what one of two nodes invents is told to nobody, and what both show is", async ({ open }) => {
  const nodes: OddEndpoint[] = [];
  const world = await open({}, {}, ({ chain, ledgerOf }) => {
    nodes.push(oddEndpoint(chain, "one"), oddEndpoint(chain, "two"));
    return ledgerOf(nodes.map(({ option }) => option));
  });
  const order = await world.sendTo();
  const { mint, give } = await foreignMint(world, "token");
  const [liar] = nodes;
  if (liar === undefined) throw new Error("there are two nodes");
  const owner = new PublicKey(order.address);
  const account = getAssociatedTokenAddressSync(new PublicKey(mint), owner, true).toBase58();
  const data = Buffer.alloc(165);
  new PublicKey(mint).toBuffer().copy(data);
  owner.toBuffer().copy(data, 32);
  data.writeBigUInt64LE(5n, 64);
  data[108] = 1;
  const invented = {
    pubkey: account,
    account: {
      lamports: 2_039_280,
      owner: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
      data: [data.toString("base64"), "base64"],
      executable: false,
      rentEpoch: 0,
      space: 165,
    },
  };
  liar.rule = lyingAbout(
    "getTokenAccountsByOwner",
    (told: { context: object; value: readonly unknown[] }) => ({
      ...told,
      value: [...told.value, invented],
    }),
  );
  await world.pass(A_LOOK);
  await world.pass(A_LOOK);
  expect(await linesOf(world, order)).toEqual([]);
  expect(await matters(world)).toEqual([]);
  liar.rule = undefined;
  await give(order.address, 5n);
  await world.pass(A_LOOK);
  expect(await linesOf(world, order)).toEqual(["deposit 5"]);
  expect(await matters(world)).toHaveLength(1);
  await ended(world, order);
});

test("P11: two processes and a restart tell of the same tokens once", async ({ open }) => {
  const news: string[] = [];
  const onAttention = ({ state, matter: { kind } }: AttentionChange): void =>
    void news.push(`${state} ${kind}`);
  const world = await open({ onAttention });
  const order = await world.sendTo();
  const again = world.another({ onAttention });
  await again.start();
  await (await foreignMint(world, "token")).give(order.address, 5n);
  for (let look = 0; look < 4; look++) {
    await world.pass(A_LOOK);
    await again.settled();
  }
  expect(await linesOf(world, order)).toEqual(["deposit 5"]);
  expect(news).toEqual(["waiting unexplained"]);
  await world.service.stop();
  world.clock.advance(A_LOOK);
  await again.settled();
  world.clock.advance(A_LOOK);
  await again.settled();
  expect(await linesOf(world, order)).toEqual(["deposit 5"]);
  expect(news).toEqual(["waiting unexplained"]);
  await again.stop();
});

const watchOf = (key: Address): WatchRecord => ({
  kind: "deposits",
  key,
  instance: key,
  life: "",
  workflow: "deposit-address@1",
  shard: 0,
});

/** What an endpoint says that each address holds, and whether the other one shows it. */
interface Claimed {
  readonly mints: (look: number) => readonly Address[];
  readonly isThere: boolean;
}

/** The calls of the looks at so many addresses within a time, and the longest that an address waited for its look, at all and in the second half. */
async function looksAt(
  count: number,
  { seconds, perSecond }: { readonly seconds: number; readonly perSecond: number | null },
  { mints, isThere }: Claimed = { mints: () => [], isThere: false },
): Promise<{ readonly calls: number; readonly longestMs: number; readonly laterMs: number }> {
  const clock = virtualClock();
  const lastAt = new Map<string, number>();
  let calls = 0;
  let looks = 0;
  const written = new Map<string, readonly Address[]>();
  let longestMs = 0;
  let laterMs = 0;
  const ledger: Pick<Ledger, "balances" | "fundsOfOwner" | "readLimit"> = {
    readLimit: { perSecond, accounts: 100, witnesses: WITNESSES },
    async balances(address) {
      calls += 3;
      const waitedMs = clock.now() - (lastAt.get(address) ?? began);
      longestMs = Math.max(longestMs, waitedMs);
      if (clock.now() - waitedMs - began > seconds * 500) laterMs = Math.max(laterMs, waitedMs);
      lastAt.set(address, clock.now());
      const holdings = mints(looks++).map((mint) => ({
        mint,
        amount: 1n,
        program: "token" as const,
        decimals: 0,
        symbol: null,
      }));
      calls += Math.ceil(holdings.length / 100);
      return heard({ slot: 1, endpoint: "node", lamports: 0n, holdings });
    },
    async fundsOfOwner(address, asked) {
      calls += WITNESSES * (1 + asked.length);
      if (isThere) written.set(address, asked);
      const tokens = asked.map(() => (isThere ? 1n : 0n));
      return agreed({ slot: 1, endpoint: "node", lamports: 0n, tokens });
    },
  };
  const rowOf = (id: Address) => ({
    id,
    mint: MAINNET_STABLECOINS.USDC,
    heldReason: null,
    waitEndedAt: null,
  });
  const storage = {
    deposits: async ([id = ""]) => [rowOf(id as Address)],
    entriesOf: async ([id = ""]) =>
      (written.get(id) ?? []).map((mint) => ({ mint, kind: "deposit", amount: 1n })),
  } as unknown as PaymentStorage;
  const deposits = { intervalMs: 1_000, poll: async () => [] };
  const watch = new StrayWatch(deposits, {
    storage,
    ledger: ledger as Ledger,
    clock,
    assets: assetsWith(MAINNET_STABLECOINS),
  });
  const began = clock.now();
  const watches = Array.from({ length: count }, (_, index) => watchOf(addressAt(index)));
  for (let second = 0; second <= seconds; second++) {
    await watch.poll(watches, notedLook());
    clock.advance(1_000);
  }
  return { calls, longestMs, laterMs };
}

plain(
  "P11: so long a foreign token waits at most at so many addresses, by the calls that looks may make",
  async () => {
    const within = async (count: number, perSecond: number | null): Promise<string> => {
      const seconds = 1_500;
      const { calls, longestMs } = await looksAt(count, { seconds, perSecond });
      return `${count}: ${longestMs / 1_000} s, ${(calls / seconds).toFixed(1)} calls/s`;
    };
    expect([
      await within(10, null),
      await within(80, null),
      await within(1_000, null),
      await within(10, 50),
      await within(80, 50),
      await within(1_000, 50),
    ]).toEqual([
      "10: 22 s, 1.5 calls/s",
      "80: 39 s, 11.8 calls/s",
      "1000: 269 s, 11.8 calls/s",
      "10: 30 s, 1.5 calls/s",
      "80: 115 s, 2.4 calls/s",
      "1000: 1265 s, 2.4 calls/s",
    ]);
  },
);

plain(
  "P11: ten foreign mints at each of 80 addresses, or a node that invents them, take no more than the share of looks, and delay them for a while",
  async () => {
    const ten = (look = 0) => Array.from({ length: 10 }, (_, index) => addressAt(1_000 + look * 10 + index));
    const seconds = 3_000;
    const within = async (perSecond: number | null, claimed: Claimed): Promise<string> => {
      const { calls, longestMs, laterMs } = await looksAt(80, { seconds, perSecond }, claimed);
      return `${longestMs / 1_000} s, later ${laterMs / 1_000} s, ${(calls / seconds).toFixed(1)} calls/s`;
    };
    const there = { mints: () => ten(), isThere: true };
    const invented = { mints: () => ten(), isThere: false };
    const inventive = { mints: ten, isThere: false };
    expect([
      await within(50, there),
      await within(50, invented),
      await within(50, inventive),
      await within(null, there),
      await within(null, inventive),
    ]).toEqual([
      "840 s, later 140 s, 2.3 calls/s",
      "840 s, later 320 s, 2.4 calls/s",
      "840 s, later 320 s, 2.4 calls/s",
      "39 s, later 20 s, 16.5 calls/s",
      "39 s, later 20 s, 23.8 calls/s",
    ]);
  },
);

plain(
  "P11, P13: where nobody lists an address's accounts, the expected mint is asked for by itself",
  async () => {
    const clock = virtualClock();
    const { USDC } = MAINNET_STABLECOINS;
    const [one, two] = [addressAt(1), addressAt(2)];
    const row = (id: Address) => ({ id, mint: USDC, heldReason: null, waitEndedAt: null });
    const storage = {
      deposits: async ([id = ""]) => [row(id as Address)],
    } as unknown as PaymentStorage;
    const ledger: Pick<Ledger, "balances" | "strayAccounts"> = {
      async balances() {
        throw new LedgerUnavailable("too large");
      },
      async strayAccounts(address) {
        const accounts = address === one ? [{ address: two, mint: USDC, amount: 5_000_000n }] : [];
        return agreed({ slot: 1, endpoint: "node", accounts, disputed: [] });
      },
    };
    const assets = assetsWith(MAINNET_STABLECOINS);
    const deposits = { intervalMs: 1_000, poll: async () => [] };
    const watch = new StrayWatch(deposits, { storage, ledger: ledger as Ledger, clock, assets });
    const watches = [one, two].map(watchOf);
    const look = notedLook();
    await watch.poll(watches, look);
    clock.advance(A_LOOK);
    await watch.poll(watches, look);
    expect(look.told).toEqual([{ instance: one, event: { type: "STRAY_SEEN" } }]);
  },
);
