/** What transactions changed at an order, by their receipts: from honest endpoints, and from some that lie, lag or have forgotten. */
import {
  AuthorityType,
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { EndpointsDifferError, LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { OrderChange } from "../../../src/ledger/order-reading.ts";
import { flood } from "../../kit/flood.ts";
import {
  gone,
  lyingAbout,
  noLists,
  noting,
  oddEndpoint,
  restoredAt,
  type OddRule,
} from "../../kit/odd-endpoints.ts";
import { renaming } from "../../kit/renamed-payer.ts";
import { keyOf, land, signed } from "../signed-transaction.ts";
import { historyTest as test, type HistoryWorld } from "./history-test.ts";
import { TOKEN_ACCOUNT } from "./order-fixture.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;

/** What stands where nothing else is said of a change. */
const change = (told: Partial<OrderChange>): Partial<OrderChange> => ({
  isOwn: false,
  changes: [0n, 0n, 0n],
  payers: [null, null, null],
  markers: [],
  received: [],
  ...told,
});

/** A transaction by hand. */
const by = (
  world: HistoryWorld,
  signers: readonly Party[],
  ...instructions: readonly TransactionInstruction[]
) => land(world, { signers, instructions });

const lamportsTo = (from: Party, to: PublicKey, lamports: bigint): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: keyOf(from), toPubkey: to, lamports });

describe("who paid in", () => {
  test("one wallet gave tokens: the rent of the account that it made is no deposit", async ({ world }) => {
    const { dave, history, pays } = world;
    const signature = await pays(5n * USDC);
    const { changes, more } = await history();
    expect(more).toBeNull();
    expect(changes).toMatchObject([
      change({ signature, changes: [0n, 5n * USDC, 0n], payers: [null, dave.address, null] }),
    ]);
    expect(changes[0]?.slot).toBeGreaterThan(0);
  });

  test("lamports count at the order, and at its token account those above the rent", async ({ world }) => {
    const { dave, history, pays, order, ata } = world;
    await pays(1n);
    await by(world, [dave], lamportsTo(dave, keyOf(order), SOL), lamportsTo(dave, ata(order.address), 7n));
    await by(world, [dave], lamportsTo(dave, ata(order.address), 9n));
    const { changes } = await history();
    expect(changes.slice(1)).toMatchObject([
      change({ changes: [SOL + 7n, 0n, 0n], payers: [dave.address, null, null] }),
      change({ changes: [9n, 0n, 0n], payers: [dave.address, null, null] }),
    ]);
  });

  test("K15: lamports where nobody has made the token account count once there is one", async ({ world }) => {
    const { dave, history, pays, order, ata } = world;
    await by(world, [dave], lamportsTo(dave, ata(order.address), SOL));
    expect((await history()).changes).toEqual([]);
    await pays(1n);
    const held = SOL - world.rent(TOKEN_ACCOUNT);
    expect((await history()).changes).toMatchObject([
      change({ changes: [held, 1n, 0n], payers: [null, dave.address, null] }),
    ]);
  });

  test("two wallets in one transaction, or a mint, do not tell one payer, whomever they may have paid", async ({
    world,
  }) => {
    const { dave, erin, history, order, ata, chain, mints, sponsor } = world;
    await by(world, [dave, erin], lamportsTo(dave, keyOf(order), SOL), lamportsTo(erin, keyOf(order), USDC));
    const faucet = { ...chain.faucet, address: chain.faucet.address as Address } as never as Party;
    const [payer, mint, to] = [keyOf(faucet), new PublicKey(mints.USDC), ata(order.address)];
    const create = createAssociatedTokenAccountIdempotentInstruction(payer, to, keyOf(order), mint);
    await by(world, [faucet], create, createMintToInstruction(mint, to, payer, 9));
    const elsewhere = lamportsTo(erin, keyOf(sponsor), 5_000_000n);
    await by(world, [dave, erin], lamportsTo(dave, keyOf(order), SOL), elsewhere);
    const pay = createTransferCheckedInstruction(ata(dave.address), mint, to, keyOf(dave), 10n, 6);
    await by(world, [faucet, dave], pay, createMintToInstruction(mint, ata(dave.address), payer, 3));
    const toErin = ata(erin.address);
    const makeHis = createAssociatedTokenAccountIdempotentInstruction(payer, toErin, keyOf(erin), mint);
    await by(world, [faucet, dave], makeHis, pay, createMintToInstruction(mint, toErin, payer, 3));
    const told = (await history()).changes.map(({ changes, payers }) => [changes.slice(0, 2), payers]);
    const nobody = [null, null, null];
    expect(told).toEqual([
      [[SOL + USDC, 0n], nobody],
      [[0n, 9n], nobody],
      [[SOL, 0n], nobody],
      [[0n, 10n], nobody],
      [[0n, 10n], nobody],
    ]);
  });

  test("tokens count while the account is the order's own", async ({ world }) => {
    const { dave, history, pays, order, erin, ata } = world;
    await pays(5n * USDC);
    const { AccountOwner } = AuthorityType;
    const giving = createSetAuthorityInstruction(ata(order.address), keyOf(order), AccountOwner, keyOf(erin));
    await by(world, [dave, order], giving);
    await pays(1n).catch(() => undefined);
    const { changes } = await history();
    expect(changes.map(({ changes: told, isOwn }) => [told[1], isOwn])).toEqual([
      [5n * USDC, false],
      [-5n * USDC, true],
    ]);
  });

  test("a transaction that names the order and brings nothing, or that failed, is not told", async ({
    world,
  }) => {
    const { dave, history, order, carry, usdc, buy } = world;
    await flood(world, dave, { address: order.address, count: 3 });
    const { landed } = await carry([buy(order, "0"), usdc(order, dave.address, 1n, null)], order);
    expect(landed).not.toBeNull();
    // One endpoint lists the failed one as successful: its receipt shows that nothing moved.
    const calling = lyingAbout("getSignaturesForAddress", (honest: object[]) =>
      honest.map((each) => ({ ...each, err: null })),
    );
    const noted = noting("getTransaction");
    expect(await history(world.over(noted))).toEqual({ changes: [], more: null });
    expect(noted.params).toHaveLength(3);
    expect(await history(world.over(calling, undefined))).toEqual({ changes: [], more: null });
  });
});

describe("what the order's own key did", () => {
  test("a chunk, a rest and a redirect: its own, the markers that they name, and what everybody got", async ({
    world,
  }) => {
    const { dave, erin, history, order, pays, must, buy, usdc, empty, closing, sol, ledger } = world;
    const { rent, sponsor, mints } = world;
    await pays(5n * USDC);
    const fee = usdc(order, sponsor.address, 10n);
    await must([buy(order, "0"), fee, usdc(order, dave.address, USDC, null)], order);
    await must([buy(order, "r0"), usdc(order, erin.address, USDC)], order);
    const left = 3n * USDC - 10n;
    const back = sol(order, sponsor.address, rent(TOKEN_ACCOUNT));
    await must([usdc(order, dave.address, left, null), closing(order), back, empty(order)], order);
    const { changes } = await history();
    const marker = (seed: string): Address => ledger.markerOf(order.address, seed);
    const tokens = changes.map(({ received }) =>
      received.filter(({ mint }) => mint === mints.USDC).toSorted((a, b) => Number(a.amount - b.amount)),
    );
    const got = (owner: Address, amount: bigint) => ({ owner, mint: mints.USDC, amount });
    expect(tokens).toEqual([
      [],
      [got(sponsor.address, 10n), got(dave.address, USDC)],
      [got(erin.address, USDC)],
      [got(dave.address, left)],
    ]);
    expect(changes.map(({ isOwn, markers }) => [isOwn, markers])).toEqual([
      [false, []],
      [true, [marker("0")]],
      [true, [marker("r0")]],
      [true, []],
    ]);
    expect(changes.map((each) => each.changes[1])).toEqual([5n * USDC, -USDC - 10n, -USDC, -left]);
    expect(changes.map((each) => each.payers)).toEqual([
      [null, dave.address, null],
      ...[1, 2, 3].map(() => [null, null, null]),
    ]);
  });

  test("a no-go pays nobody, and is told by its marker", async ({ world }) => {
    const { history, order, must, buy, ledger } = world;
    await must([buy(order, "0", { length: 1 })], order);
    const marker = ledger.markerOf(order.address, "0");
    expect((await history()).changes).toMatchObject([
      { isOwn: true, changes: [0n, 0n, 0n], markers: [marker] },
    ]);
  });

  test("the loan of a go is the order's own doing; SOL that others got is told by owner", async ({
    world,
  }) => {
    const { erin, history, order, must, buy, sol, dave, lamports, rent, sponsor } = world;
    await by(world, [dave], lamportsTo(dave, keyOf(order), SOL));
    const loan = sol(sponsor, order.address, 2n * rent());
    await must([buy(order, "0"), sol(order, erin.address, SOL), loan], order);
    const { changes } = await history();
    expect(changes[1]).toMatchObject({ isOwn: true, changes: [2n * rent() - SOL, 0n, 0n] });
    expect(changes[1]?.received).toContainEqual({ owner: erin.address, mint: null, amount: SOL });
    expect(await lamports(order.address)).toBe(2n * rent());
  });

  test("C28: a thief's go is told by whom it paid, and an honest one of another copy in the same way", async ({
    world,
  }) => {
    const { erin, history, order, pays, must, buy, usdc, mints } = world;
    await pays(5n * USDC);
    const forged = { ...buy(order, "0"), payer: erin.address };
    await must([forged, usdc(order, erin.address, 5n * USDC)], order, erin);
    const told = (await history()).changes[1];
    expect(told).toMatchObject({ isOwn: true, markers: [world.ledger.markerOf(order.address, "0")] });
    expect(told?.received).toContainEqual({ owner: erin.address, mint: mints.USDC, amount: 5n * USDC });
  });

  test("C29: a deposit that a sweeper takes in its slot is told by its own transaction, and the theft by the next", async ({
    world,
  }) => {
    const { dave, erin, order, history, ledger, chain, ata, mints, units } = world;
    const [mint, from] = [new PublicKey(mints.USDC), ata(order.address)];
    const create = createAssociatedTokenAccountIdempotentInstruction(keyOf(dave), from, keyOf(order), mint);
    const paid = createTransferCheckedInstruction(ata(dave.address), mint, from, keyOf(dave), 5n, 6);
    const toErin = ata(erin.address);
    const makeHis = createAssociatedTokenAccountIdempotentInstruction(keyOf(erin), toErin, keyOf(erin), mint);
    const taken = createTransferCheckedInstruction(from, mint, toErin, keyOf(order), 5n, 6);
    for (const [signers, instructions] of [
      [[dave], [create, paid]],
      [
        [erin, order],
        [makeHis, taken],
      ],
    ] as const) {
      const text = await signed(world, { signers, instructions });
      await ledger.broadcast(Buffer.from(text, "base64"));
    }
    chain.advance(33);
    expect(await units(order.address)).toBe(0n);
    const { changes } = await history();
    expect(new Set(changes.map(({ slot }) => slot)).size).toBe(1);
    const told = changes.map((each) => [each.isOwn, each.changes[1], each.payers[1]]);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual([false, 5n, dave.address]);
    expect(told).toContainEqual([true, -5n, null]);
  });

  test("C44: a marker that is named through a lookup table, or by another transaction than the one that made it", async ({
    world,
  }) => {
    const { dave, order, must, buy, history, ledger, chain } = world;
    await by(world, [dave], lamportsTo(dave, keyOf(order), SOL));
    await must([buy(order, "0")], order);
    const marker = new PublicKey(ledger.markerOf(order.address, "0"));
    const recentSlot = chain.slot() - 2;
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: keyOf(dave),
      payer: keyOf(dave),
      recentSlot,
    });
    const extend = AddressLookupTableProgram.extendLookupTable({
      lookupTable: table,
      authority: keyOf(dave),
      payer: keyOf(dave),
      addresses: [marker],
    });
    await by(world, [dave], create, extend);
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getAccountInfo",
      params: [table.toBase58(), { encoding: "base64" }],
    });
    const answer = (await (await chain.fetch("http://local", { body })).json()) as {
      readonly result: { readonly value: { readonly data: readonly [string] } };
    };
    const state = AddressLookupTableAccount.deserialize(Buffer.from(answer.result.value.data[0], "base64"));
    const pay = lamportsTo(order, keyOf(dave), SOL / 2n);
    pay.keys.push({ pubkey: marker, isSigner: false, isWritable: false });
    const tables = [new AddressLookupTableAccount({ key: table, state })];
    const text = await signed(world, { signers: [dave, order], instructions: [pay], tables });
    await ledger.broadcast(Buffer.from(text, "base64"));
    chain.advance(33);
    const last = (await history()).changes.at(-1);
    expect(last).toMatchObject({
      isOwn: true,
      markers: [ledger.markerOf(order.address, "0")],
      changes: [-SOL / 2n, 0n, 0n],
    });
  });
});

test("what all transactions changed is what the order holds, whatever they were", async ({ world }) => {
  const { dave, order, pays, must, buy, usdc, sol, history, look, rent, rich, ataOf, chain } = world;
  await pays(5n * USDC);
  await by(world, [dave], lamportsTo(dave, keyOf(order), SOL));
  chain.fund(ataOf(order.address), { lamports: 123n });
  chain.advance(33);
  await must(
    [buy(order, "0"), usdc(order, dave.address, 2n * USDC, null), sol(order, dave.address, 7n)],
    order,
  );
  await must([usdc(rich, order.address, 9n)], rich);
  const { changes } = await history();
  const sum = (place: number): bigint =>
    changes.reduce((total, each) => total + (each.changes[place] ?? 0n), 0n);
  const { order: held } = (await look(order, [])).told[0] ?? { order: undefined };
  const account = held?.accounts[0];
  expect(sum(1)).toBe(account?.amount);
  expect(sum(0)).toBe((held?.lamports ?? 0n) + (account?.lamports ?? 0n) - rent(TOKEN_ACCOUNT));
  expect(sum(0)).toBe(SOL + 123n - 7n);
});

describe("on from what was read", () => {
  test("only what is of that slot or later", async ({ world }) => {
    const { pays, history, ledger } = world;
    await pays(1n);
    await pays(2n);
    await pays(3n);
    const { changes } = await history();
    const slots = changes.map(({ slot }) => slot);
    const from = async (since: number) =>
      (await history(ledger, since)).changes.map((each) => each.changes[1]);
    expect(await from(slots[1] ?? 0)).toEqual([2n, 3n]);
    expect(await from((slots[1] ?? 0) + 1)).toEqual([3n]);
    expect(await from((slots[2] ?? 0) + 1)).toEqual([]);
  });
});

describe("M19: endpoints that lie, lag or have forgotten", () => {
  test.for([[0], [1]] as const)(
    "one of two (number %s) that renames the payer is a dispute, and of three it is outvoted",
    async ([place], { world }) => {
      const { pays, history, over, dave, erin } = world;
      const signature = await pays(5n);
      const liar = renaming(dave.address, erin.address);
      const rules = place === 0 ? [liar, undefined] : [undefined, liar];
      const two = over(...rules);
      await expect(history(two)).rejects.toThrow(EndpointsDifferError);
      expect((await two.disputes()).map(({ subject }) => subject)).toEqual([
        `the content of transaction ${signature}`,
      ]);
      const { changes } = await history(over(...rules, undefined));
      expect(changes[0]?.payers[1]).toBe(dave.address);
    },
  );

  test("one that lists nothing, or all as failed, hides nothing", async ({ world }) => {
    const { pays, history, over } = world;
    await pays(5n);
    const failed = lyingAbout("getSignaturesForAddress", (honest: object[]) =>
      honest.map((each) => ({ ...each, err: { InstructionError: [0, { Custom: 1 }] } })),
    );
    for (const liar of [noLists, failed]) {
      for (const rules of [
        [liar, undefined],
        [undefined, liar],
      ]) {
        expect((await history(over(...rules))).changes).toHaveLength(1);
      }
    }
  });

  test("one that invents a transaction is a dispute: what is listed has to be explained", async ({
    world,
  }) => {
    const { pays, history, over } = world;
    await pays(5n);
    const signature = bs58.encode(new Uint8Array(64).fill(7));
    const inventing = lyingAbout("getSignaturesForAddress", (honest: object[]) => [
      { signature, slot: 3, err: null, memo: null, blockTime: 0 },
      ...honest,
    ]);
    const ledger = over(undefined, inventing, undefined);
    await expect(history(ledger)).rejects.toThrow(
      `nodes differ about the content of transaction ${signature}`,
    );
  });

  test("one that tells another slot makes the next look pass nothing over", async ({ world }) => {
    const { pays, history, over } = world;
    await pays(1n);
    const later = lyingAbout("getSignaturesForAddress", (honest: { slot: number }[]) =>
      honest.map((each) => ({ ...each, slot: each.slot + 1_000_000 })),
    );
    const [told] = (await history()).changes;
    const { changes, more } = await history(over(later, undefined));
    expect([changes[0]?.slot, more]).toEqual([told?.slot, null]);
  });

  test("one that is behind takes nothing away, and one that has forgotten disputes what the other shows", async ({
    world,
  }) => {
    const { pays, history, over, chain, ledgerOf } = world;
    await pays(5n);
    const behind: OddRule = ({ method }) =>
      method === "getSignaturesForAddress" ? { kind: "lag", slots: 40 } : undefined;
    expect((await history(over(behind, undefined))).changes).toHaveLength(1);
    const forgetful = restoredAt(chain.slot());
    await expect(history(over(forgetful, undefined))).rejects.toThrow(EndpointsDifferError);
    expect((await history(over(forgetful, undefined, undefined))).changes).toHaveLength(1);
    expect((await history(over(forgetful, forgetful))).changes).toEqual([]);
    const told = await history(over(forgetful, undefined, forgetful));
    expect(told.changes, "an order does not wait for what two have forgotten").toEqual([]);
    const archive = { ...oddEndpoint(chain, "archive").option, archive: true };
    const ledger = ledgerOf([archive, oddEndpoint(chain, "other", forgetful).option]);
    expect((await history(ledger)).changes).toHaveLength(1);
    await ledger.close();
  });

  test("fewer lists than must agree are none", async ({ world }) => {
    const { pays, history, over } = world;
    await pays(5n);
    await expect(history(over(undefined, gone))).rejects.toThrow(LedgerUnavailable);
    expect((await history(over(undefined, gone, undefined))).changes).toHaveLength(1);
  });
});
