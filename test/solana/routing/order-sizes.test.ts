/** How much goes into a transaction of an order: counted in bytes, and carried out at its worst. */
import { describe, expect } from "vitest";
import type { Move } from "../../../src/ledger/routing.ts";
import { sharedOrderTest } from "./order-test.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const PACKET = 1_232;
/** What is reserved for a chunk pays so many bytes of its marker. */
const RESERVED = 128;

const many = (count: number, leg: () => Move): readonly Move[] => Array.from({ length: count }, leg);

const test = sharedOrderTest.extend("scene", { scope: "file" }, ({ world }) => {
  const { party, nobody, sol, usdc, buy, sponsor, give, rent, ledger, plan } = world;
  give(sponsor.address, { usdc: 1n });
  const order = party({ lamports: 900n * SOL, usdc: 900n * USDC });
  const treasury = party({ lamports: SOL, usdc: 1n });
  const long = { length: RESERVED };
  const paySol = (): Move => sol(order, nobody(), 2_000_000n);
  const payUsdc = (): Move => usdc(order, nobody(), 5n);
  const lend = sol(sponsor, order.address, 2n * rent());
  const fee = {
    sol: sol(order, treasury.address, 1_000_000n),
    usdc: usdc(order, treasury.address, 1n, null),
  };
  const most = async (leg: () => Move, moves: readonly Move[]): Promise<number> => {
    const fits = async (count: number): Promise<boolean> =>
      (await ledger.sizeOf(plan(...moves, ...many(count, leg)))) <= PACKET;
    let count = 0;
    while (await fits(count + 1)) count += 1;
    return count;
  };
  /** The compute units that a landed transaction took. */
  const unitsOf = async (signature: string): Promise<number> => {
    const params = [signature, { encoding: "base64", maxSupportedTransactionVersion: 0 }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getTransaction", params });
    const { result } = (await (await world.chain.fetch("http://local", { body })).json()) as {
      readonly result: { readonly meta: { readonly computeUnitsConsumed: number } };
    };
    return result.meta.computeUnitsConsumed;
  };
  return {
    ...world,
    order,
    treasury,
    paySol,
    payUsdc,
    lend,
    fee,
    most,
    unitsOf,
    seed: (k: string) => buy(order, k, long),
  };
});

describe("the greatest chunks, each with the longest marker that is reserved for", () => {
  test("13 members of SOL: chunk 0 with fee and loan, and a later one", async ({ scene }) => {
    const { seed, fee, paySol, lend, must, unitsOf, order } = scene;
    const first = await must([seed("0"), fee.sol, ...many(12, paySol), lend], order);
    const later = await must([seed("38"), ...many(13, paySol)], order);
    expect([first.size, later.size]).toEqual([1_109, 1_093]);
    expect(await unitsOf(first.signature)).toBeLessThanOrEqual(2_700);
  });

  test("7 members of tokens, every account missing and its address given lamports before", async ({
    scene,
  }) => {
    const { seed, fee, payUsdc, must, unitsOf, chain, ata, order, nobody, usdc } = scene;
    const first = await must([seed("1"), fee.usdc, ...many(6, payUsdc)], order);
    const later = await must([seed("71"), ...many(7, payUsdc)], order);
    expect([first.size, later.size]).toEqual([1_178, 1_221]);
    const payees = Array.from({ length: 7 }, nobody);
    for (const payee of payees) chain.fund(ata(payee).toBase58(), { lamports: 3_000_000n });
    chain.advance(2);
    const worst = await must([seed("70"), ...payees.map((to) => usdc(order, to, 5n))], order);
    expect(await unitsOf(worst.signature)).toBeLessThanOrEqual(123_355);
  });

  test("no chunk could hold two members more: the cut leaves room, and little", async ({ scene }) => {
    const { seed, fee, paySol, payUsdc, lend, most } = scene;
    expect(await most(paySol, [seed("0"), fee.sol, lend])).toBe(14);
    expect(await most(paySol, [seed("38")])).toBe(15);
    expect(await most(payUsdc, [seed("0"), fee.usdc])).toBe(6);
    expect(await most(payUsdc, [seed("71")])).toBe(7);
  });

  test("a swap of SOL for tokens, which three sign", async ({ scene }) => {
    const { seed, fee, sol, usdc, lend, party, nobody, must, unitsOf, order } = scene;
    const desk = party({ lamports: SOL, usdc: 500n * USDC });
    const legs = [sol(order, desk.address, SOL), usdc(desk, nobody(), 9n)];
    const { size, signature } = await must([seed("2"), fee.sol, ...legs, lend], order, desk);
    expect(size).toBeLessThanOrEqual(853);
    expect(await unitsOf(signature)).toBeLessThan(30_000);
  });
});

describe("what is not a chunk", () => {
  test("a rest of tokens and SOL, its cost in tokens; a redirect that makes the account; both fit with room", async ({
    scene,
  }) => {
    const { buy, usdc, sol, closing, empty, nobody, sponsor, ledger, plan, order } = scene;
    const to = nobody();
    const rest = [
      usdc(order, to, USDC),
      usdc(order, sponsor.address, USDC, null),
      closing(order),
      sol(order, to, SOL),
      sol(order, sponsor.address, SOL),
      empty(order),
    ];
    const redirect = [buy(order, "r9"), usdc(order, to, USDC)];
    const withCost = [...redirect, usdc(order, sponsor.address, 1n, null)];
    expect(await ledger.sizeOf(plan(...rest))).toBeLessThanOrEqual(682);
    expect(await ledger.sizeOf(plan(...redirect))).toBeLessThanOrEqual(675);
    expect(await ledger.sizeOf(plan(...withCost))).toBeLessThanOrEqual(724);
  });
});
