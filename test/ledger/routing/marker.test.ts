/** The marker: the chain itself refuses to make the same payment twice. */
import { PublicKey, SystemProgram } from "@solana/web3.js";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Address } from "../../../src/address.ts";
import { routingFixture, type RoutingFixture } from "./routing-fixture.ts";

let fixture: RoutingFixture;
let rent: bigint;
beforeAll(async () => {
  fixture = await routingFixture();
  rent = await fixture.ledger.rentMinimum(0);
});
afterAll(() => fixture.close());

test("markerAddress is where the chain itself puts an account of that base and seed", async () => {
  const seeds = fc.string({
    minLength: 1,
    maxLength: 32,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
  });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), seeds, async (bytes, seed) => {
      const base = new PublicKey(bytes);
      const derived = await PublicKey.createWithSeed(base, seed, SystemProgram.programId);
      expect(fixture.ledger.markerAddress(base.toBase58() as Address, seed)).toBe(derived.toBase58());
    }),
  );
  for (const seed of ["", "x".repeat(33), "two words", "é", "\n"]) {
    expect(() => fixture.ledger.markerAddress(fixture.sponsor.address, seed)).toThrow(RangeError);
  }
});

test("E15: a marker is created with the rent of today, and unmarked with what it holds", async () => {
  const { ledger, plan, mark, sol, party, carryOut, chain } = fixture;
  const deposit = party({ lamports: 5_000_000_000n });
  const treasury = party({ lamports: 1_000_000_000n });
  const marked = async (seed: string): Promise<bigint> => {
    await carryOut(plan(mark(deposit, seed), sol(deposit, treasury.address, 1_000_000_000n)), deposit);
    const { funds } = await ledger.funds([ledger.markerAddress(deposit.address, seed)], [], "finalized");
    return funds[0]?.lamports ?? 0n;
  };
  const before = await marked("before");
  chain.setRent(5_000n);
  try {
    const after = await marked("after");
    expect(after).toBe(await ledger.rentMinimum(0));
    expect(after).not.toBe(before);
    const unmark = (seed: string, lamports: bigint) =>
      ({ does: "unmark", base: deposit.address, seed, to: treasury.address, lamports }) as const;
    const outcome = await carryOut(plan(unmark("before", before), unmark("after", after)), deposit);
    expect(outcome).toMatchObject({ tried: null, landed: null });
    expect((await fixture.holds(treasury.address))[0]).toBe(3_000_000_000n + before + after);
  } finally {
    chain.setRent(rent / 128n);
  }
});

test("a marker that was swept away protects nothing any more", async () => {
  const { plan, mark, sol, party, nobody, carryOut, sponsor } = fixture;
  const deposit = party({ lamports: 5_000_000_000n });
  const payout = plan(mark(deposit), sol(deposit, nobody(), 1_000_000_000n));
  const unmark = {
    does: "unmark",
    base: deposit.address,
    seed: "payout",
    to: sponsor.address,
    lamports: rent,
  } as const;
  await carryOut(payout, deposit);
  expect((await carryOut(payout, deposit)).landed).toMatchObject({ kind: "marked" });
  await carryOut(plan(unmark), deposit);
  expect((await carryOut(payout, deposit)).landed).toBeNull();
});
