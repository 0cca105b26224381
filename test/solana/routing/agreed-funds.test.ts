/** Money counts when enough endpoints hold it true; nothing that one of them says alone makes it more. */
import { expect, test } from "vitest";
import fc from "fast-check";
import type { Address } from "../../../src/core/address.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { solanaLedger } from "../../../src/solana/index.ts";
import { agreedBalances, type ToldBalances } from "../../../src/solana/routing/funds.ts";
import { blockClock, chainFixture } from "../../kit/chain-fixture.ts";
import { gone, lyingAbout, oddEndpoint, type OddRule } from "../../kit/odd-endpoints.ts";

const LYING_BALANCE = 77_000_000_000;

/** What an endpoint that lies about balances makes of an answer; the first account of each call is the clock. */
function withAccounts(change: (account: object | null) => object | null): OddRule {
  return lyingAbout("getMultipleAccounts", (honest: { context: object; value: (object | null)[] }) => ({
    context: honest.context,
    value: honest.value.map((account, index) => (index === 0 ? account : change(account))),
  }));
}

const wallet = { data: ["", "base64"], owner: "1".repeat(32), executable: false, rentEpoch: 0, space: 0 };
const rich = withAccounts(() => ({ ...wallet, lamports: LYING_BALANCE }));
const poor = withAccounts(() => null);

async function lamportsAt(ledger: Ledger, address: Address): Promise<bigint | undefined> {
  return (await ledger.funds([address], [], "finalized")).funds[0]?.lamports;
}

test("M6: what one of two endpoints makes up is not credited, finalized, whichever it is", async () => {
  const fixture = await chainFixture();
  const { address } = fixture.wallet("alice", { lamports: 5_000_000n });
  fixture.chain.advance(33);
  const [liar, honest, third] = [
    oddEndpoint(fixture.chain, "liar"),
    oddEndpoint(fixture.chain, "honest"),
    oddEndpoint(fixture.chain, "third"),
  ];
  for (const rule of [rich, poor]) {
    liar.rule = rule;
    for (const endpoints of [
      [liar, honest],
      [honest, liar],
    ]) {
      const ledger = fixture.ledgerOf(endpoints.map(({ option }) => option));
      expect(await lamportsAt(ledger, address)).toBe(rule === rich ? 5_000_000n : 0n);
    }
    // Two of three are enough, and the third can neither add nor take away.
    const three = fixture.ledgerOf([liar.option, honest.option, third.option]);
    expect(await lamportsAt(three, address)).toBe(5_000_000n);
  }
  await fixture.close();
});

test("with one of two silent no money is read, whether final or confirmed", async () => {
  const fixture = await chainFixture();
  const { address } = fixture.wallet("alice", { lamports: 5_000_000n });
  fixture.chain.advance(33);
  const endpoints = [
    oddEndpoint(fixture.chain, "silent", gone).option,
    oddEndpoint(fixture.chain, "honest").option,
  ];
  const ledger = fixture.ledgerOf(endpoints);
  const questions = [
    ledger.funds([address], [], "finalized"),
    ledger.funds([address], [], "confirmed"),
    ledger.holdingsOf(address, [fixture.mints.USDC], "finalized"),
    ledger.holdingsOf(address, [fixture.mints.USDC], "finalized"),
  ];
  const errors = await Promise.all(questions.map((asked) => asked.catch((reason: unknown) => reason)));
  for (const error of errors) {
    expect(error).toBeInstanceOf(LedgerUnavailable);
    expect(String(error)).toContain(
      "1 of the 2 Solana nodes that must agree answered (silent.example: HTTP 403)",
    );
  }
  const trusting = solanaLedger({
    endpoints,
    witnesses: 1,
    clock: blockClock(fixture.chain, fixture.clock),
  });
  expect(await lamportsAt(trusting, address)).toBe(5_000_000n);
  await fixture.close();
});

test("of endpoints at different blocks the older one says when it was", async () => {
  const fixture = await chainFixture();
  const { address } = fixture.wallet("alice", { lamports: 5_000_000n });
  fixture.chain.advance(60);
  const behind = oddEndpoint(fixture.chain, "behind", () => ({ kind: "lag", slots: 20 }));
  const ledger = fixture.ledgerOf([oddEndpoint(fixture.chain, "honest").option, behind.option]);
  const { slot, endpoint } = await ledger.funds([address], [], "finalized");
  expect([slot, endpoint]).toEqual([fixture.chain.slot() - 32 - 20, "behind.example"]);
  const read = await ledger.holdingsOf(address, [fixture.mints.USDC], "finalized");
  expect([read.slot, read.endpoint]).toEqual([slot, endpoint]);
  await fixture.close();
});

const told = fc.record({
  slot: fc.integer({ min: 900, max: 1_100 }),
  endpoint: fc.constant("node"),
  amounts: fc.array(fc.bigInt({ min: 0n, max: 9n }), { minLength: 2, maxLength: 2 }),
});

test("any amount agreed on is held true by enough endpoints at the slot that is claimed or later", () => {
  fc.assert(
    fc.property(fc.array(told, { minLength: 1, maxLength: 5 }), fc.nat(4), (answers, more) => {
      const witnesses = Math.min(1 + more, answers.length);
      const { oldest, amounts } = agreedBalances<ToldBalances>(answers, witnesses);
      amounts.forEach((amount, index) => {
        const vouching = answers.filter((answer) => {
          return answer.slot >= oldest.slot && (answer.amounts[index] ?? 0n) >= amount;
        });
        expect(vouching.length).toBeGreaterThanOrEqual(witnesses);
      });
      // One more or less that lies cannot be what decides: enough others are at most 50 slots from the claimed one.
      const near = answers.filter(({ slot }) => slot >= oldest.slot);
      expect(near.length).toBeGreaterThanOrEqual(witnesses);
    }),
  );
});

test("an endpoint that stands still, or claims to be far ahead, keeps two honest ones from nothing", () => {
  const honest = { slot: 1_000, endpoint: "honest", amounts: [5n] };
  const other = { slot: 999, endpoint: "other", amounts: [5n] };
  for (const slot of [1, 1_000_000]) {
    const { oldest, amounts } = agreedBalances([honest, other, { slot, endpoint: "odd", amounts: [0n] }], 2);
    expect([oldest.endpoint, amounts]).toEqual(["other", [5n]]);
  }
});
