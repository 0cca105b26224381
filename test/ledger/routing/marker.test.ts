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

test("P29: a second attempt with the same mark is refused by the chain, whatever its blockhash", async () => {
  const { ledger, plan, mark, sol, party, nobody, carryOut, sign, chain } = fixture;
  const deposit = party({ lamports: 10_000_000_000n });
  const [first, second] = [nobody(), nobody()];
  const payout = plan(mark(deposit), sol(deposit, first, 1_000_000_000n));
  // Both are signed while neither has landed, then one more with a newer blockhash, paying somebody else even.
  const twin = await sign(payout, deposit);
  chain.advance(3);
  expect(await carryOut(payout, deposit)).toMatchObject({ tried: null, landed: null });
  const later = plan(mark(deposit), sol(deposit, second, 2_000_000_000n));
  const refused = { kind: "marked", move: 0 };
  expect(await carryOut(later, deposit)).toMatchObject({ tried: refused, landed: refused });
  await ledger.broadcast(twin.bytes);
  chain.advance(33);
  const [status] = await ledger.statuses([twin.signature]);
  expect(await ledger.explainError(payout, status?.error ?? "")).toMatchObject(refused);
  const { funds } = await ledger.funds(
    [deposit.address, first, second, ledger.markerAddress(deposit.address, "payout")],
    [],
    "finalized",
  );
  expect(funds.map(({ lamports }) => lamports)).toEqual([9_000_000_000n, 1_000_000_000n, 0n, rent]);
});

test("the same payment under another seed, or of another address under the same seed, is another payment", async () => {
  const { plan, mark, sol, party, nobody, carryOut } = fixture;
  const [one, other] = [party({ lamports: 5_000_000_000n }), party({ lamports: 5_000_000_000n })];
  const to = nobody();
  for (const [deposit, seed] of [
    [one, "a"],
    [one, "b"],
    [other, "a"],
  ] as const) {
    const outcome = await carryOut(plan(mark(deposit, seed), sol(deposit, to, 1_000_000_000n)), deposit);
    expect(outcome).toMatchObject({ tried: null, landed: null });
  }
});

test("a marker address that somebody else funded reads as marked, and another seed still pays", async () => {
  const { ledger, plan, mark, sol, party, nobody, carryOut, chain } = fixture;
  const deposit = party({ lamports: 5_000_000_000n });
  chain.fund(ledger.markerAddress(deposit.address, "guessed"), { lamports: rent });
  chain.advance(33);
  const pay = sol(deposit, nobody(), 1_000_000_000n);
  expect((await carryOut(plan(mark(deposit, "guessed"), pay), deposit)).landed).toMatchObject({
    kind: "marked",
  });
  expect((await carryOut(plan(mark(deposit, "next"), pay), deposit)).landed).toBeNull();
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
