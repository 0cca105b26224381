/** What an address signed itself: how a restored database finds out that it is an old one. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import type { Fetch } from "../../../src/ledger/solana/index.ts";
import { callIn, routingFixture, type Party, type RoutingFixture } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;

let fixture: RoutingFixture;
let deposit: Party;
beforeEach(async () => {
  fixture = await routingFixture();
  deposit = fixture.party({ lamports: 10n * SOL, usdc: 1_000_000n });
});
afterEach(() => fixture.close());

/** The chain behind a node that changes what it answers to one method. */
function node(method: string, change: (result: never) => unknown): Fetch {
  return async (url, init) => {
    const call = callIn(init);
    const answer = await fixture.chain.fetch(url, init);
    if (call.method !== method) return answer;
    const body = (await answer.json()) as { result: never };
    return Response.json({ ...body, result: change(body.result) });
  };
}

test("an entry that one node silently left out counts when another one lists it", async () => {
  const { ledgerOf, plan, mark, sol, nobody, carryOut, chain } = fixture;
  const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const forgetful = { url: "http://forgetful", fetch: node("getSignaturesForAddress", () => []) };
  const alone = ledgerOf([forgetful]);
  expect((await alone.signedBy(deposit.address)).transactions).toEqual([]);
  const both = ledgerOf([forgetful, { url: "http://honest", fetch: chain.fetch }]);
  expect((await both.signedBy(deposit.address)).transactions).toMatchObject([
    { signature: signed.signature },
  ]);
  await alone.close();
  await both.close();
});

test("a transaction that is listed and cannot be read is not passed over: the answer is unknown", async () => {
  const { ledgerOf, plan, mark, sol, nobody, carryOut, clock } = fixture;
  await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  const ledger = ledgerOf([{ url: "http://pruned", fetch: node("getTransaction", () => null) }]);
  const outcome = ledger.signedBy(deposit.address).catch((error: unknown) => error);
  // The tries in between are pauses of its clock.
  for (let tick = 0; tick < 200; tick += 1) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await outcome).toBeInstanceOf(LedgerUnavailable);
  await ledger.close();
});

test("P15: an address named by 1,000 transactions or more says that its history is not whole", async () => {
  const { chain, ledgerOf, nobody } = fixture;
  const flooded = nobody();
  chain.fund(flooded, { lamports: SOL });
  chain.advance(33);
  for (const [count, isWhole] of [
    [999, true],
    [1_000, false],
  ] as const) {
    const many = (list: readonly unknown[]): unknown[] => Array.from({ length: count }, () => list[0]);
    const fetch = node("getSignaturesForAddress", many);
    const ledger = ledgerOf([{ url: "http://local", fetch }]);
    expect(await ledger.signedBy(flooded)).toEqual({ transactions: [], isWhole });
    await ledger.close();
  }
});

test("P15: transactions are read at most eight at a time", async () => {
  const { chain, ledgerOf, nobody } = fixture;
  const named = nobody();
  for (let index = 0; index < 30; index += 1) chain.fund(named, { lamports: SOL });
  chain.advance(33);
  let most = 0;
  let open = 0;
  const fetch: Fetch = async (url, init) => {
    open += 1;
    most = Math.max(most, open);
    try {
      return await chain.fetch(url, init);
    } finally {
      open -= 1;
    }
  };
  const ledger = ledgerOf([{ url: "http://local", fetch }]);
  expect(await ledger.signedBy(named)).toEqual({ transactions: [], isWhole: true });
  expect(most).toBe(8);
  await ledger.close();
});
