/** How much goes into one transaction, measured and not believed. */
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { expect } from "vitest";
import { addressOf, type Address } from "../../../src/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { sharedRoutingTest } from "./routing-test.ts";

// As long as seeds may be, which is how long they are.
const SEED = "s".repeat(32);
const PLAN = "p".repeat(32);
const OTHER_PLAN = "q".repeat(32);
const PACKET = 1_232;

type Leg = () => Move;

const many = (count: number, move: Leg): Move[] => Array.from({ length: count }, move);

/** A deposit address that all tests share, and the legs of its payouts. */
const test = sharedRoutingTest.extend("scene", { scope: "file" }, ({ world }) => {
  const { sponsor, sol, usdc, nobody, ledger, plan } = world;
  const deposit = world.party({ lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n });
  const paySol: Leg = () => sol(deposit, nobody(), 10_000_000n);
  const payUsdc: Leg = () => usdc(deposit, nobody(), 5n);
  const payUsdcAlone: Leg = () => usdc(deposit, nobody(), 5n, null);
  const loan: Leg = () => sol(sponsor, deposit.address, 890_880n);
  /** How many fit, and the bytes of as many, beside these moves. */
  const most = async (
    leg: Leg,
    ...moves: readonly Move[]
  ): Promise<readonly [count: number, bytes: number]> => {
    const size = (count: number): Promise<number> => ledger.sizeOf(plan(...moves, ...many(count, leg)));
    let count = 0;
    while ((await size(count + 1)) <= PACKET) count += 1;
    return [count, await size(count)];
  };
  return { ...world, deposit, paySol, payUsdc, payUsdcAlone, loan, most };
});

test("sizes: how many recipients fit beside a marker, beside two, and within a plan that they follow", async ({
  scene,
}) => {
  const { follow, replace, mark, unmark, deposit, paySol, payUsdc, payUsdcAlone, loan, most } = scene;
  const [marking, replacing] = [mark(deposit, SEED), replace(deposit, PLAN, SEED)];
  const following = follow(deposit, OTHER_PLAN);
  const sizes = async (leg: Leg): Promise<unknown> => [
    await most(leg, marking),
    await most(leg, following, marking),
    await most(leg, replacing),
    await most(leg, following, replacing),
  ];
  expect(await sizes(paySol)).toEqual([
    [13, 1_225],
    [12, 1_214],
    [8, 1_203],
    [7, 1_192],
  ]);
  expect(await sizes(payUsdc)).toEqual([
    [6, 1_230],
    [5, 1_177],
    [3, 1_180],
    [3, 1_218],
  ]);
  expect(await sizes(payUsdcAlone)).toEqual([
    [11, 1_191],
    [11, 1_229],
    [7, 1_218],
    [6, 1_207],
  ]);
  // A loan is one more transfer between addresses that are there already.
  expect(await most(paySol, marking, loan())).toEqual([12, 1_193]);
  expect(await most(paySol, following, marking, loan())).toEqual([12, 1_231]);
  let markers = 0;
  expect(await most(() => unmark(deposit, String((markers += 1)).padStart(32, "s")))).toEqual([23, 1_213]);
});

test("sizeOf is the length of the signed bytes, and buildTransaction draws the line at 1,232", async ({
  scene,
}) => {
  const { ledger, plan, sign, mark, deposit, paySol, payUsdc, payUsdcAlone } = scene;
  for (let count = 1; count <= 17; count += 1) {
    for (const move of [paySol, payUsdc, payUsdcAlone]) {
      const payout = plan(mark(deposit, SEED), ...many(count, move));
      const size = await ledger.sizeOf(payout);
      const outcome = await sign(payout, deposit).then(
        ({ bytes }) => bytes.length,
        (error: unknown) => error instanceof RangeError && "too long",
      );
      expect(outcome).toBe(size > PACKET ? "too long" : size);
    }
  }
});

test("P19: the fullest transactions land", async ({ scene }) => {
  const { plan, carryOut, mark, follow, replace, deposit, paySol, payUsdc, loan } = scene;
  const planned = (letter: string): string => letter.repeat(32);
  await carryOut(plan(replace(deposit, planned("0"), planned("1"))), deposit);
  const following = follow(deposit, planned("0"));
  const fullest = [
    [mark(deposit, planned("a")), ...many(13, paySol)],
    [mark(deposit, planned("b")), loan(), ...many(12, paySol)],
    [mark(deposit, planned("c")), ...many(6, payUsdc)],
    [following, mark(deposit, planned("d")), loan(), ...many(12, paySol)],
    [following, mark(deposit, planned("e")), ...many(5, payUsdc)],
    [following, replace(deposit, planned("g"), planned("f")), ...many(7, paySol)],
    [following, replace(deposit, planned("i"), planned("h")), ...many(3, payUsdc)],
  ];
  for (const moves of fullest) {
    expect(await carryOut(plan(...moves), deposit)).toMatchObject({ tried: null, landed: null });
  }
});

test("the fullest land when somebody funded all their account addresses, in a trace of 64 instructions", async ({
  scene,
}) => {
  const { plan, carryOut, mark, follow, replace, usdc, nobody, ata, chain, ledger, deposit } = scene;
  const funded = (count: number): Move[] => {
    const payees = Array.from({ length: count }, nobody);
    for (const payee of payees) chain.fund(ata(payee).toBase58(), { lamports: 1_000_000n });
    chain.advance(2);
    return payees.map((to) => usdc(deposit, to, 5n));
  };
  for (const seed of ["j", "k", "l", "m", "n", "o"]) {
    chain.fund(ledger.markerAddress(deposit.address, seed), { lamports: 1_000_000n });
  }
  await carryOut(plan(replace(deposit, "j", "k")), deposit);
  for (const moves of [
    [mark(deposit, "l"), ...funded(6)],
    [follow(deposit, "j"), mark(deposit, "m"), ...funded(5)],
    [follow(deposit, "j"), replace(deposit, "n", "o"), ...funded(3)],
  ]) {
    expect(await carryOut(plan(...moves), deposit)).toMatchObject({ tried: null, landed: null });
  }
});

// One of 54,000 addresses: its USDC account lies at bump 237, so it takes 18 tries more than the cheapest to derive.
const GROUND = "31b5XeoFY317gK4PERCvNwxXKCTuV2oQeRer5QVALAtY" as Address;

test("a recipient who ground an address that is dear to derive does not exhaust the compute limit", async ({
  scene,
}) => {
  const { plan, carryOut, usdc, mints, deposit } = scene;
  const [, bump] = PublicKey.findProgramAddressSync(
    [GROUND, TOKEN_PROGRAM_ID, mints.USDC].map((key) => new PublicKey(key).toBytes()),
    ASSOCIATED_TOKEN_PROGRAM_ID,
  );
  expect(bump).toBe(237);
  expect(await carryOut(plan(usdc(deposit, GROUND, 5n)), deposit)).toMatchObject({
    tried: null,
    landed: null,
  });
});

test("feeOf tells the fee of a payout whatever byte its last account ends with", async ({ scene }) => {
  const { chain, ledger, plan, mark, usdc, nobody, deposit } = scene;
  for (const last of Array.from({ length: 256 }).keys()) {
    const payee = new PublicKey(Uint8Array.from({ length: 32 }, (_, at) => (at === 31 ? last : 7)));
    const legs = [nobody(), addressOf(payee.toBytes())].map((to) => usdc(deposit, to, 5n));
    const payout = plan(mark(deposit, SEED), ...legs);
    // Nodes are asked again once a fee is ten seconds old.
    chain.advance(SLOTS_TO_FINALITY);
    expect(await ledger.feeOf(payout, "floor"), payee.toBase58()).toBeGreaterThan(10_000n);
  }
});
