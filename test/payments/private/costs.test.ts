/** What a payment costs: the page's table against quotes, and what is kept against what was quoted. */
// modules: private
import { expect } from "vitest";
import { quoteSchema } from "../../../src/payments/frame/quotes/quote-schema.ts";
import { transactionSchema } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { PrivateFixture } from "../../kit/private-fixture.ts";
import { units } from "../../kit/money.ts";
import { privateTest as test } from "../../kit/private-test.ts";
import { tableIn, textOf } from "../../readme/page.ts";

const PAGE = "src/guide/limits.md";

/** The fee that is quoted for 10 of an asset, shared equally: `3.1 = 1 + 2 + 0.1`, network, routing and rent. */
async function quoted(
  { service, caller }: PrivateFixture,
  { mode, asset, payees }: { mode: "wallet" | "private"; asset: string; payees: readonly Wallet[] },
): Promise<string> {
  const amount = String(10 / payees.length);
  const { body } = await service.createQuote(await caller("enterprise"), {
    mode,
    amount: "10",
    inputAsset: asset,
    outputAsset: asset,
    recipients: payees.map(({ address }) => ({ address, amount })),
  });
  const { network, routing, rent } = body.fees;
  return `${body.fee} ${body.feeAsset} = ${network} + ${routing} + ${rent}`;
}

test("Q15: the page's table of costs is what quotes say, with a SOL at 150 dollars and the default options", async ({
  world,
}) => {
  const people = (name: string, funds: { usdc?: bigint; lamports?: bigint }): readonly Wallet[] =>
    Array.from({ length: 10 }, (_, index) => world.wallet(`${name} ${index}`, funds));
  const known = people("known", { usdc: 1n, lamports: 1_000_000n });
  const unknown = people("new", { lamports: 1_000_000n });
  const costs = async (asset: string, payees: readonly Wallet[]): Promise<readonly string[]> => [
    await quoted(world, { mode: "wallet", asset, payees: payees.slice(0, 5) }),
    await quoted(world, { mode: "private", asset, payees }),
  ];
  const { rows } = tableIn(textOf(PAGE), "## Cost");
  expect(rows.map(([, wallet, hidden]) => [wallet, hidden])).toEqual([
    await costs("SOL", known.slice(0, 1)),
    await costs("USDC", known.slice(0, 1)),
    await costs("USDC", unknown.slice(0, 1)),
    await costs("USDC", known.slice(0, 5)),
    await costs("USDC", unknown.slice(0, 5)),
  ]);
});

test("Q15: the quoted fee is kept whole once somebody was paid, and nothing of it where nobody could be", async ({
  world,
}) => {
  const { service, treasury } = world;
  const caller = await world.caller();
  const sender = world.wallet("alice", { usdc: 1n });
  const [bob, frozen] = ["bob", "frozen"].map((name) => world.wallet(name, { usdc: 1n }));
  if (bob === undefined || frozen === undefined) throw new Error("both are made above");
  for (const to of [bob, frozen]) {
    const [, before] = await world.held(treasury.address);
    const { quote, body } = await world.order(caller, {
      sender,
      to: [{ address: to.address, amount: "2" }],
    });
    if (to === frozen) await world.freeze(frozen, "USDC");
    await world.deposit(body.ephemeralAddress, { usdc: units(body.depositAmount, 6) });
    await world.settle();
    const told = await service.transaction(caller, body.transactionId);
    const [, after] = await world.held(treasury.address);
    if (to === bob) {
      expect(told).toMatchObject({ status: "completed", fee: quote.fee, refunds: [] });
      expect(after - before).toBe(units(quote.fee, 6));
    } else {
      expect(told).toMatchObject({ status: "failed", fee: "0", refunds: [{ asset: "USDC" }] });
    }
  }
});

test("Q15: every page and the OpenAPI document say it alike", () => {
  const said = /kept whole/;
  for (const page of ["src/http/README.md", "src/payments/private/README.md"]) {
    expect(textOf(page), page).toMatch(said);
    expect(textOf(page), page).not.toContain("what is not needed goes back");
  }
  expect(quoteSchema.shape.fee.description).toMatch(said);
  expect(transactionSchema.shape.fee.unwrap().description).toMatch(said);
});
