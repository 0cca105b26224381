/** What addresses hold: whose it is, of which block, and what is not there any more when a fork took it. */
import {
  AuthorityType,
  createFreezeAccountInstruction,
  createSetAuthorityInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { type FirmCommitment, LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { lyingAbout, noting, oddEndpoint } from "../../kit/odd-endpoints.ts";
import { keyOf, land } from "../signed-transaction.ts";
import type { RoutingFixture } from "./routing-fixture.ts";
import { routingTest as test } from "./routing-test.ts";

/** A node that changes each answer about accounts. */
function lyingNode({ chain }: RoutingFixture, lie: (told: never) => void) {
  const answer = (told: never): unknown => {
    lie(told);
    return told;
  };
  return oddEndpoint(chain, "local", lyingAbout("getMultipleAccounts", answer)).option;
}

test("each commitment has the slot, the time and the balances of its own block", async ({ world }) => {
  const { ledger, mints, nobody, chain, clock } = world;
  const address = nobody();
  const at = (commitment: FirmCommitment): Promise<unknown> =>
    ledger.funds([address], [mints.USDC], commitment);
  const seconds = (): number => Math.floor(clock.now() / 1_000);
  const before = { slot: chain.slot(), time: seconds() };
  clock.advance(60_000);
  chain.advance(1);
  chain.fund(address, { lamports: 5_000_000_000n, usdc: 7n });
  const now = { slot: chain.slot(), blockTime: seconds(), endpoint: "local" };
  const funds = [{ lamports: 5_000_000_000n, tokens: [7n] }];
  const absent = [{ lamports: 0n, tokens: [0n] }];
  expect(await at("confirmed")).toEqual({
    slot: before.slot,
    blockTime: before.time,
    endpoint: "local",
    funds: absent,
  });
  clock.advance(60_000);
  chain.advance(1);
  expect(await at("confirmed")).toEqual({ ...now, funds });
  expect(await at("finalized")).toMatchObject({
    slot: chain.slot() - 32,
    blockTime: before.time,
    funds: absent,
  });
  chain.advance(31);
  expect(await at("finalized")).toEqual({ ...now, funds });
});

test("P26: 100 accounts a call: 33 addresses with two mints and the clock, in the order asked", async ({
  world,
}) => {
  const { mints, ledgerOf, nobody, chain } = world;
  const addresses = Array.from({ length: 70 }, nobody);
  const rich = new Map([0, 32, 33, 66, 69].map((index) => [index, BigInt(index + 1)]));
  for (const [index, usdt] of rich) {
    chain.fund(addresses[index] ?? "", { lamports: 1_000_000_000n + usdt, usdc: 2n * usdt, usdt });
  }
  chain.advance(2);
  const reads = noting("getMultipleAccounts");
  const ledger = ledgerOf([oddEndpoint(chain, "local", reads).option]);
  const { funds, slot } = await ledger.funds(addresses, [mints.USDC, mints.USDT], "confirmed");
  expect(funds).toEqual(
    addresses.map((_, index) => {
      const usdt = rich.get(index);
      if (usdt === undefined) return { lamports: 0n, tokens: [0n, 0n] };
      return { lamports: 1_000_000_000n + usdt, tokens: [2n * usdt, usdt] };
    }),
  );
  expect(slot).toBe(chain.slot() - 1);
  expect(reads.params.map(([accounts]) => (accounts as unknown[]).length)).toEqual([100, 100, 13]);
  await ledger.close();
});

test("amountsIn: 100 accounts are one call, 101 are two, and an endpoint that takes fewer is asked for fewer", async ({
  world,
}) => {
  const { ledgerOf, nobody } = world;
  for (const [count, accountsPerCall, calls] of [
    [100, undefined, [100]],
    [101, undefined, [100, 1]],
    [100, 40, [40, 40, 20]],
    [0, undefined, []],
  ] as const) {
    const reads = noting("getMultipleAccounts");
    const limit = accountsPerCall === undefined ? {} : { accountsPerCall };
    const ledger = ledgerOf([{ ...oddEndpoint(world.chain, "local", reads).option, ...limit }]);
    const asked = Array.from({ length: count }, () => ({ address: nobody(), mint: null }));
    await ledger.amountsIn(asked, "finalized");
    expect(reads.params.map(([accounts]) => (accounts as unknown[]).length)).toEqual(calls);
    await ledger.close();
  }
});

test("amountsIn: an answer with too few accounts, or with a balance that is none, is no answer", async ({
  world,
}) => {
  const { ledgerOf, party } = world;
  const { address } = party({ lamports: 1_000_000_000n });
  interface Told {
    value: ({ lamports: number } | null)[];
  }
  const lies: readonly ((told: Told) => void)[] = [
    ({ value }) => value.pop(),
    ({ value }) => ((value[0] as { lamports: number }).lamports = -1),
  ];
  for (const lie of lies) {
    const ledger = ledgerOf([lyingNode(world, lie)]);
    const asked = [{ address, mint: null }];
    await expect(ledger.amountsIn(asked, "processed")).rejects.toBeInstanceOf(LedgerUnavailable);
    await ledger.close();
  }
});

test("with several calls slot and time are those of the oldest", async ({ world }) => {
  const { mints, ledgerOf, nobody, chain, clock } = world;
  let calls = 0;
  const ledger = ledgerOf([
    {
      url: "http://local",
      fetch: async (url, init) => {
        const answer = await chain.fetch(url, init);
        calls += 1;
        clock.advance(5_000);
        chain.advance(3);
        return answer;
      },
    },
  ]);
  const [slot, time] = [chain.slot(), Math.floor(clock.now() / 1_000)];
  const addresses = Array.from({ length: 34 }, nobody);
  const reading = await ledger.funds(addresses, [mints.USDC, mints.USDT], "confirmed");
  expect(calls).toBe(2);
  // Confirmed is the block before.
  expect(reading).toMatchObject({ slot: slot - 1, blockTime: time });
  await ledger.close();
});

test("an endpoint that takes fewer accounts a call is asked for fewer, and never for half an address", async ({
  world,
}) => {
  const { mints, ledgerOf, nobody } = world;
  const reads = noting("getMultipleAccounts");
  const ledger = ledgerOf([{ ...oddEndpoint(world.chain, "local", reads).option, accountsPerCall: 9 }]);
  const [five, four] = [5, 4].map((length) => Array.from({ length }, nobody));
  for (const addresses of [five, four]) {
    await ledger.funds(addresses ?? [], [mints.USDC, mints.USDT], "confirmed");
  }
  expect(reads.params.map(([accounts]) => (accounts as unknown[]).length)).toEqual([...[7, 7, 4], ...[7, 7]]);
  await ledger.close();
});

/** A clock of the same slot, further in the future than a number can tell. */
function atNoTime(clock: unknown): unknown {
  const told = clock as { data: [string, string] };
  const data = Buffer.from(told.data[0], "base64");
  data.writeBigInt64LE(2n ** 62n, 32);
  return { ...told, data: [data.toString("base64"), "base64"] };
}

test("an answer put together from two blocks, without a clock, or with a time that is none, is no answer", async ({
  world,
}) => {
  const { mints, ledgerOf, nobody } = world;
  interface Told {
    context: { slot: number };
    value: unknown[];
  }
  const lies: readonly ((told: Told) => void)[] = [
    ({ context }) => (context.slot += 1),
    ({ value }) => (value[0] = null),
    ({ value }) => (value[0] = { ...(value[0] as object), owner: SystemProgram.programId.toBase58() }),
    ({ value }) => (value[0] = atNoTime(value[0])),
    ({ value }) => value.pop(),
  ];
  for (const lie of lies) {
    const ledger = ledgerOf([lyingNode(world, lie)]);
    await expect(ledger.funds([nobody()], [mints.USDC], "finalized")).rejects.toBeInstanceOf(
      LedgerUnavailable,
    );
    await ledger.close();
  }
});

test("a token account that was handed over counts for nobody; a frozen one counts", async ({ world }) => {
  const { ledger, mints, party, nobody, ata, asIssuer, chain } = world;
  const giver = party({ lamports: 1_000_000_000n, usdc: 5n });
  const thief = nobody();
  const frozen = party({ usdc: 6n });
  await land(world, {
    signers: [giver],
    instructions: [
      createSetAuthorityInstruction(
        ata(giver.address),
        keyOf(giver),
        AuthorityType.AccountOwner,
        new PublicKey(thief),
      ),
    ],
  });
  const authority = new PublicKey(chain.faucet.address);
  await asIssuer([createFreezeAccountInstruction(ata(frozen.address), new PublicKey(mints.USDC), authority)]);
  const { funds } = await ledger.funds([giver.address, thief, frozen.address], [mints.USDC], "finalized");
  expect(funds.map(({ tokens }) => tokens)).toEqual([[0n], [0n], [6n]]);
  // Whoever owns it now is told by its content, wherever it lies.
  expect((await ledger.holdingsOf(thief, [mints.USDC], "finalized")).tokens).toEqual([5n]);
});

test("E15: rentMinimum is what the chain said ten seconds ago at most, and asked for once in them", async ({
  world,
}) => {
  const { ledger, chain, clock } = world;
  const before = await ledger.rentMinimum(165);
  chain.setRent(5_080n);
  expect(await ledger.rentMinimum(165)).toBe(before);
  clock.advance(10_000);
  expect(await ledger.rentMinimum(165)).toBe(5_080n * (128n + 165n));
  expect(before).not.toBe(5_080n * (128n + 165n));
});
