/** What the aggregator's instructions state, read from bytes in the layout of its published interface. */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readRoute } from "../../src/solana/foreign-swap/read-route.ts";
import { JUPITER_PROGRAM } from "../../src/solana/programs.ts";

const ACCOUNTS = Array.from({ length: 12 }, (_, index) => `account ${index}`);

function instruction(name: string, ...args: Buffer[]): Parameters<typeof readRoute>[0] {
  const discriminator = createHash("sha256").update(`global:${name}`).digest().subarray(0, 8);
  return { program: JUPITER_PROGRAM, accounts: ACCOUNTS, data: Buffer.concat([discriminator, ...args]) };
}

/** Input, quoted output, slippage, platform fee, fee of positive slippage, and a plan of no step. */
function terms(input: bigint, quoted: bigint, slippageBps: number): Buffer {
  const data = Buffer.alloc(26);
  data.writeBigUInt64LE(input, 0);
  data.writeBigUInt64LE(quoted, 8);
  data.writeUInt16LE(slippageBps, 16);
  return data;
}

describe("readRoute", () => {
  test("N10: the minimum out is the quoted output less its slippage, rounded down as the program does", () => {
    const route = readRoute(instruction("route_v2", terms(7n, 1_999n, 50)));
    expect(route).toEqual({
      does: "swap",
      taker: "account 0",
      source: "account 1",
      destination: "account 2",
      payee: "account 7",
      inputAmount: 7n,
      leastAmount: 1_990n,
    });
    expect(readRoute(instruction("route_v2", terms(7n, 1_999n, 10_001)))).toMatchObject({ leastAmount: 0n });
  });

  test("an account for the output that is left out is named by the program itself", () => {
    const accounts = ACCOUNTS.with(7, JUPITER_PROGRAM);
    const route = readRoute({ ...instruction("route_v2", terms(7n, 9n, 0)), accounts });
    expect(route).toMatchObject({ payee: null });
    expect(
      readRoute({ ...instruction("route_v2", terms(7n, 9n, 0)), accounts: ACCOUNTS.slice(0, 7) }),
    ).toMatchObject({ payee: "" });
  });

  test("a route through the program's own accounts has one byte more, and other places", () => {
    const route = readRoute(instruction("shared_accounts_route_v2", Buffer.of(3), terms(7n, 2_000n, 100)));
    expect(route).toEqual({
      does: "swap",
      taker: "account 1",
      source: "account 2",
      destination: "account 5",
      payee: null,
      inputAmount: 7n,
      leastAmount: 1_980n,
    });
  });

  test("N10: instructions that state no minimum at the known place, and cut ones, are none", () => {
    expect(readRoute(instruction("create_token_account", Buffer.of(255)))).toEqual({
      does: "make_account",
      account: "account 0",
      owner: "account 1",
      mint: "account 2",
    });
    for (const name of ["route", "exact_out_route_v2", "route_with_token_ledger", "claim"]) {
      expect(readRoute(instruction(name, terms(7n, 9n, 0)))).toBeNull();
    }
    expect(readRoute(instruction("route_v2", terms(7n, 9n, 0).subarray(0, 17)))).toBeNull();
    expect(readRoute({ program: JUPITER_PROGRAM, accounts: [], data: new Uint8Array() })).toBeNull();
  });
});
