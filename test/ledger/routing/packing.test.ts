/** How much goes into one transaction, measured and not believed. */
import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import { routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";

// As long as seeds may be, which is how long they are.
const SEED = "s".repeat(32);
const PACKET = 1_232;

let fixture: RoutingFixture;
let deposit: Party;
beforeAll(async () => {
  fixture = await routingFixture();
  deposit = fixture.party({ lamports: 1_000_000_000_000n, usdc: 1_000_000_000_000n });
});
afterAll(() => fixture.close());

const marked = (...moves: Move[]): Move[] => [fixture.mark(deposit, SEED), ...moves];
const many = (count: number, move: () => Move): Move[] => Array.from({ length: count }, move);
const paySol = (): Move => fixture.sol(deposit, fixture.nobody(), 10_000_000n);
const payUsdc = (): Move => fixture.usdc(deposit, fixture.nobody(), 5n);
const payUsdcAlone = (): Move => fixture.usdc(deposit, fixture.nobody(), 5n, null);
const loan = (): Move => fixture.sol(fixture.sponsor, deposit.address, 890_880n);

test("sizes: 15 SOL recipients with a marker and a loan, 6 token recipients with their accounts, or 13 without", async () => {
  const size = (...moves: Move[]): Promise<number> =>
    fixture.ledger.sizeOf(fixture.plan(...marked(...moves)));
  expect(await size()).toBe(478);
  expect(await size(...many(15, paySol))).toBe(1_213);
  expect(await size(...many(16, paySol))).toBe(1_262);
  // A loan is one more transfer between addresses that are there already.
  expect(await size(loan(), ...many(15, paySol))).toBe(1_230);
  expect(await size(loan(), ...many(16, paySol))).toBe(1_279);
  expect(await size(...many(6, payUsdc))).toBe(1_152);
  expect(await size(...many(7, payUsdc))).toBe(1_243);
  expect(await size(...many(13, payUsdcAlone))).toBe(1_211);
  expect(await size(...many(14, payUsdcAlone))).toBe(1_260);
});

test("sizeOf is the length of the signed bytes, and buildTransaction draws the line at 1,232", async () => {
  const { ledger, plan, sign } = fixture;
  for (let count = 1; count <= 17; count += 1) {
    for (const move of [paySol, payUsdc, payUsdcAlone]) {
      const payout = plan(...marked(...many(count, move)));
      const size = await ledger.sizeOf(payout);
      const outcome = await sign(payout, deposit).then(
        ({ bytes }) => bytes.length,
        (error: unknown) => error instanceof RangeError && "too long",
      );
      expect(outcome).toBe(size > PACKET ? "too long" : size);
    }
  }
});

test("P19: the fullest transactions land: 15 SOL recipients with a loan, 6 with new token accounts", async () => {
  const { plan, carryOut, mark } = fixture;
  const fullest = [
    [mark(deposit, "a".repeat(32)), loan(), ...many(15, paySol)],
    [mark(deposit, "b".repeat(32)), ...many(6, payUsdc)],
  ];
  for (const moves of fullest) {
    expect(await carryOut(plan(...moves), deposit)).toMatchObject({ tried: null, landed: null });
  }
});

test("6 token recipients land when somebody funded all their account addresses, in a trace of 64 instructions", async () => {
  const { plan, carryOut, mark, usdc, nobody, ata, chain } = fixture;
  const payees = Array.from({ length: 6 }, nobody);
  for (const payee of payees) chain.fund(ata(payee).toBase58(), { lamports: 1_000_000n });
  chain.advance(2);
  const payout = plan(mark(deposit, "c".repeat(32)), ...payees.map((to) => usdc(deposit, to, 5n)));
  expect(await carryOut(payout, deposit)).toMatchObject({ tried: null, landed: null });
});

// One of 54,000 addresses: its USDC account lies at bump 237, so it takes 18 tries more than the cheapest to derive.
const GROUND = "31b5XeoFY317gK4PERCvNwxXKCTuV2oQeRer5QVALAtY" as Address;

test("a recipient who ground an address that is dear to derive does not exhaust the compute limit", async () => {
  const { plan, carryOut, usdc, mints } = fixture;
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
