/** M32: what an address has signed in a time, and whether enough endpoints could know all of it. */
import { expect } from "vitest";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { allOf, lyingAbout, oddEndpoint } from "../../kit/odd-endpoints.ts";
import type { Party, RoutingFixture } from "./routing-fixture.ts";
import { routingTest } from "./routing-test.ts";

const SOL = 1_000_000_000n;

const test = routingTest.extend("deposit", async ({ world }): Promise<Party> =>
  world.party({ lamports: 10n * SOL }),
);

/** What a node answers to one method in the place of the truth. */
type Answers = Readonly<Record<string, (honest: never) => unknown>>;

/** A node of the chain that changes these answers. */
const node = ({ chain }: RoutingFixture, name: string, answers: Answers) =>
  oddEndpoint(chain, name, allOf(...Object.entries(answers).map((lie) => lyingAbout(...lie)))).option;

/** Its ledger begins here. */
const beginsAt = (slot: number): Answers => ({ getFirstAvailableBlock: () => slot });

const LISTS_NOTHING: Answers = { getSignaturesForAddress: () => [] };

/** The period from the first block to now, as these nodes tell it. */
async function told(world: RoutingFixture, deposit: Party, nodes: readonly Answers[], from?: number) {
  const { clock, ledgerOf } = world;
  const ledger: Ledger = ledgerOf(nodes.map((answers, index) => node(world, `node${index}`, answers)));
  try {
    return await ledger.signedWithin(deposit.address, { from: from ?? START(world), to: clock.now() });
  } finally {
    await ledger.close();
  }
}

/** Fixtures begin at this time, and so does their chain. */
const START = ({ clock }: RoutingFixture): number => clock.now();

test("M32: what no node lists was not signed where enough of them have the history of the time", async ({
  world,
  deposit,
}) => {
  const from = START(world);
  world.clock.advance(60_000);
  world.chain.advance(40);
  const late = world.chain.slot();
  world.chain.advance(40);
  const nothing = { transactions: [], isWhole: true };
  expect(await told(world, deposit, [{}, {}], from)).toEqual({ ...nothing, isProven: true });
  expect(await told(world, deposit, [{}, beginsAt(late)], from)).toEqual({ ...nothing, isProven: false });
  expect(await told(world, deposit, [{}, {}, beginsAt(late)], from)).toEqual({ ...nothing, isProven: true });
  expect(await told(world, deposit, [{}, beginsAt(late), beginsAt(late)], from)).toEqual({
    ...nothing,
    isProven: false,
  });
  // Of a later time they know all.
  expect(await told(world, deposit, [{}, beginsAt(late)], world.clock.now())).toEqual({
    ...nothing,
    isProven: true,
  });
});

test("M32: a node whose history was cut while it listed knows nothing of the time before", async ({
  world,
  deposit,
}) => {
  const from = START(world);
  world.clock.advance(60_000);
  world.chain.advance(40);
  const late = world.chain.slot();
  world.chain.advance(40);
  let asked = 0;
  const cut: Answers = { getFirstAvailableBlock: (honest) => ((asked += 1) > 1 ? late : honest) };
  expect(await told(world, deposit, [cut], from)).toMatchObject({ isProven: false });
});

test("M32: what one node lists was signed, whatever the others have", async ({ world, deposit }) => {
  const { plan, mark, sol, nobody, carryOut } = world;
  const from = START(world);
  const { signed } = await carryOut(plan(mark(deposit), sol(deposit, nobody(), SOL)), deposit);
  expect(await told(world, deposit, [LISTS_NOTHING, {}], from)).toMatchObject({
    transactions: [{ signature: signed.signature }],
  });
});

test("M32: a node that does not know the end of the time is no witness of it, and too few are no answer", async ({
  world,
  deposit,
}) => {
  world.clock.advance(60_000);
  await expect(told(world, deposit, [{}, {}])).rejects.toBeInstanceOf(LedgerUnavailable);
});
