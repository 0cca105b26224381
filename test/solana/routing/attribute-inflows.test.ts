/** Attribution as arithmetic over the balances before and after a transaction. */
import { Keypair, PublicKey } from "@solana/web3.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import {
  inflowsIn,
  type TransactionChange,
  type TokenChange,
} from "../../../src/solana/routing/attribute-inflows.ts";

const key = (): Address => Keypair.generate().publicKey.toBase58() as Address;
const PROGRAM = new PublicKey(key());
/** An address without a key: only a program can pay from it. */
const vault = (name: string): Address =>
  PublicKey.findProgramAddressSync([Buffer.from(name)], PROGRAM)[0].toBase58() as Address;

const MINT = key();
const OWNER = key();
const [ALICE, BOB] = [key(), key()];
const POOL = vault("pool");

const tokens = (...changes: readonly (readonly [Address | null, bigint])[]): TokenChange[] =>
  changes.map(([owner, change]) => ({ account: key(), owner, mint: MINT, change }));

const landed = (changes: Partial<TransactionChange>): TransactionChange => ({
  signature: "S",
  signers: [ALICE],
  fee: 5_000n,
  lamports: [],
  tokens: [],
  ...changes,
});

test("M8: what a program's vault gives is nobody's, whoever paid for the transaction", () => {
  const [inflow] = inflowsIn(OWNER, [MINT], landed({ tokens: tokens([POOL, -5n], [OWNER, 5n]) }));
  expect(inflow).toMatchObject({ amount: 5n, from: [], unattributed: 5n });
});

test("M8: what is minted is nobody's, and so is what an account of an untold owner gives", () => {
  const minted = inflowsIn(OWNER, [MINT], landed({ tokens: tokens([OWNER, 5n]) }));
  expect(minted).toMatchObject([{ from: [], unattributed: 5n }]);
  const untold = inflowsIn(OWNER, [MINT], landed({ tokens: tokens([null, -5n], [OWNER, 5n]) }));
  expect(untold).toMatchObject([{ from: [], unattributed: 5n }]);
});

test("where two gave and two got, each may have given all of it, and a vault among them comes first", () => {
  const together = tokens([ALICE, -5n], [BOB, -7n], [OWNER, 6n], [key(), 6n]);
  expect(inflowsIn(OWNER, [MINT], landed({ tokens: together }))).toMatchObject([
    {
      amount: 6n,
      unattributed: 0n,
      from: [
        { payer: ALICE, amount: 5n },
        { payer: BOB, amount: 6n },
      ],
    },
  ]);
  const mixed = tokens([ALICE, -5n], [POOL, -3n], [OWNER, 5n], [key(), 3n]);
  expect(inflowsIn(OWNER, [MINT], landed({ tokens: mixed }))).toMatchObject([
    { amount: 5n, unattributed: 3n, from: [{ payer: ALICE, amount: 5n }] },
  ]);
});

test("the network's fee is no gift: who only paid for the transaction is no giver", () => {
  const lamports = [
    { account: ALICE, change: -5_000n },
    { account: BOB, change: -9n },
    { account: OWNER, change: 9n },
  ];
  expect(inflowsIn(OWNER, [null], landed({ signers: [ALICE, BOB], lamports }))).toMatchObject([
    { amount: 9n, from: [{ payer: BOB, amount: 9n }], unattributed: 0n },
  ]);
});

test("M8: what somebody else took out of a token account is not made good by what its owner got meanwhile", () => {
  const account = key();
  const lamports = [
    { account: ALICE, change: -9n - 5_000n },
    { account, change: -5n },
    { account: BOB, change: 5n },
    { account: OWNER, change: 9n },
  ];
  const held = [{ account, owner: BOB, mint: MINT, change: 0n }];
  expect(inflowsIn(OWNER, [null], landed({ lamports, tokens: held }))).toMatchObject([
    { amount: 9n, from: [{ payer: ALICE, amount: 9n }], unattributed: 5n },
  ]);
});

test("M8: the rent of a token account comes from its owner where he signed for its closing, and else from nobody", () => {
  const account = key();
  const lamports = [
    { account: ALICE, change: -5_000n },
    { account, change: -5n },
    { account: OWNER, change: 5n },
  ];
  const closed = (by: Address): TransactionChange =>
    landed({ signers: [ALICE, by], lamports, tokens: [{ account, owner: BOB, mint: MINT, change: 0n }] });
  expect(inflowsIn(OWNER, [null], closed(BOB))).toMatchObject([
    { amount: 5n, from: [{ payer: BOB, amount: 5n }], unattributed: 0n },
  ]);
  expect(inflowsIn(OWNER, [null], closed(key()))).toMatchObject([{ amount: 5n, from: [], unattributed: 5n }]);
});

test("what an owner moves between its own accounts brings it nothing", () => {
  expect(inflowsIn(OWNER, [MINT, null], landed({ tokens: tokens([OWNER, -5n], [OWNER, 5n]) }))).toEqual([]);
});

test("every inflow is explained: what is not unattributed is covered by those who are named, and none gives more than it lost", () => {
  const party = fc.constantFrom<Address | null>(OWNER, ALICE, BOB, POOL, vault("other"), null);
  const change = fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n });
  fc.assert(
    fc.property(fc.array(fc.tuple(party, change), { maxLength: 8 }), (moved) => {
      const sums = new Map<Address | null, bigint>();
      for (const [who, by] of moved) sums.set(who, (sums.get(who) ?? 0n) + by);
      const [inflow] = inflowsIn(OWNER, [MINT], landed({ tokens: tokens(...moved) }));
      const gained = sums.get(OWNER) ?? 0n;
      expect(inflow !== undefined).toBe(gained > 0n);
      if (inflow === undefined) return;
      const named = inflow.from.reduce((sum, { amount }) => sum + amount, 0n);
      expect(inflow.amount).toBe(gained);
      expect(named + inflow.unattributed).toBeGreaterThanOrEqual(gained);
      expect(inflow.unattributed).toBeLessThanOrEqual(gained);
      for (const { payer, amount } of inflow.from) {
        expect([ALICE, BOB]).toContain(payer);
        expect(amount).toBeLessThanOrEqual(-(sums.get(payer) ?? 0n));
      }
    }),
  );
});
