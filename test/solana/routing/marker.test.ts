/** The marker: the chain itself refuses to make the same payment twice, and tells what became of it. */
import { PublicKey } from "@solana/web3.js";
import { TOKEN_PROGRAM_ID } from "@solana/spl-token";
import fc from "fast-check";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { RoutingFixture } from "./routing-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

const SOL = 1_000_000_000n;

/** What a marker costs. */
interface Scene extends RoutingFixture {
  readonly rent: bigint;
}

const test = sharedRoutingTest.extend("scene", { scope: "file" }, async ({ world }): Promise<Scene> => ({
  ...world,
  rent: await world.ledger.rentMinimum(165),
}));

test("markerAddress is where the chain itself puts an account of that base and seed", async ({ scene }) => {
  const seeds = fc.string({
    minLength: 1,
    maxLength: 32,
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCodePoint(code)),
  });
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 32, maxLength: 32 }), seeds, async (bytes, seed) => {
      const base = new PublicKey(bytes);
      const derived = await PublicKey.createWithSeed(base, seed, TOKEN_PROGRAM_ID);
      expect(scene.ledger.markerAddress(base.toBase58() as Address, seed)).toBe(derived.toBase58());
    }),
  );
  for (const seed of ["", "x".repeat(33), "two words", "é", "\n"]) {
    expect(() => scene.ledger.markerAddress(scene.sponsor.address, seed)).toThrow(RangeError);
  }
});

test("E15: a marker is made with the rent of today, and closing it returns all that it holds", async ({
  scene,
}) => {
  const { rent } = scene;
  const { ledger, plan, mark, unmark, party, carryOut, markers, chain } = scene;
  const deposit = party({ lamports: 5n * SOL });
  const treasury = party({ lamports: SOL });
  await carryOut(plan(mark(deposit, "before")), deposit);
  chain.setRent(10_000n);
  try {
    await carryOut(plan(mark(deposit, "after")), deposit);
    const today = await ledger.rentMinimum(165);
    expect(today).not.toBe(rent);
    expect(await markers(deposit, "before", "after")).toEqual([
      { delegate: null, lamports: rent },
      { delegate: null, lamports: today },
    ]);
    const closing = ["before", "after"].map((seed) => unmark(deposit, seed, treasury.address));
    expect(await carryOut(plan(...closing), deposit)).toMatchObject({ tried: null, landed: null });
    expect(await scene.holds(treasury.address)).toEqual([SOL + rent + today, 0n]);
  } finally {
    chain.setRent(rent / 293n);
  }
});

test("a marker that was closed protects nothing any more", async ({ scene }) => {
  const { plan, mark, unmark, sol, party, nobody, carryOut } = scene;
  const deposit = party({ lamports: 5n * SOL });
  const payout = plan(mark(deposit), sol(deposit, nobody(), SOL));
  await carryOut(payout, deposit);
  expect((await carryOut(payout, deposit)).landed).toMatchObject({ kind: "marked" });
  await carryOut(plan(unmark(deposit)), deposit);
  expect((await carryOut(payout, deposit)).landed).toBeNull();
});
