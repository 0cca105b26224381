/** K13: an hour of a stranger's dust, every 12 seconds, against the rests of an order. */
import { describe, expect } from "vitest";
import type { Commitment } from "../../../src/ledger/ledger.ts";
import type { Move } from "../../../src/ledger/routing.ts";
import type { OrderFixture } from "./order-fixture.ts";
import { orderTest as test } from "./order-test.ts";
import type { Party } from "./routing-fixture.ts";

const SOL = 1_000_000_000n;
const USDC = 1_000_000n;
const FEE = 10_000n;
const HOUR = 9_000;
const DUST_EVERY = 30;
const REST_EVERY = 300;
/** From reading to landing. */
const SLOTS_TO_LAND = 5;

/** How a rest is made of what a look shows: the moves, of an asset. */
interface Rest {
  readonly funds: { readonly lamports: bigint } | { readonly usdc: bigint };
  readonly moves: (world: OrderFixture, order: Party, held: bigint, to: Party) => readonly Move[];
}

const ofSol: Rest = {
  funds: { lamports: 5n * SOL },
  moves: ({ sol, empty, sponsor }, order, held, to) => [
    sol(order, to.address, held - FEE),
    sol(order, sponsor.address, FEE),
    empty(order),
  ],
};
const bareOfSol: Rest = {
  ...ofSol,
  moves: ({ sol, rent }, order, held, to) => [sol(order, to.address, held - rent())],
};
const ofTokens: Rest = {
  funds: { usdc: 5n * USDC },
  moves: ({ usdc, closing, empty, sol, sponsor, rent }, order, held, to) => [
    usdc(order, to.address, held, order.address),
    closing(order),
    sol(order, sponsor.address, rent(165)),
    empty(order),
  ],
};
const bareOfTokens: Rest = {
  ...ofTokens,
  moves: ({ usdc }, order, held, to) => [usdc(order, to.address, held, order.address)],
};

/** How many rests landed of how many that were tried in an hour. */
async function anHour(
  world: OrderFixture,
  rest: Rest,
  commitment: Commitment,
): Promise<readonly [number, number]> {
  const { party, buy, must, chain, ledger, mints, plan, sign } = world;
  const [order, to] = [party(rest.funds), party({ lamports: SOL, usdc: 1n })];
  await must([buy(order, "0", { length: 1 })], order);
  const isSol = "lamports" in rest.funds;
  const query = { address: order.address, mints: [mints.USDC], owners: [], seeds: [] };
  const held = async (at: Commitment): Promise<bigint> => {
    const told = (await ledger.readOrder(query, at)).told[0]?.order;
    return (isSol ? told?.lamports : told?.accounts[0]?.amount) ?? 0n;
  };
  let [tried, landed] = [0, 0];
  for (let slot = 0; slot < HOUR; slot += DUST_EVERY) {
    if ((await held("confirmed")) > 0n) chain.fund(order.address, isSol ? { lamports: 1n } : { usdc: 1n });
    chain.advance(10);
    const amount = slot % REST_EVERY === 0 ? await held(commitment) : 0n;
    if (amount > USDC) {
      const { bytes, signature } = await sign(plan(...rest.moves(world, order, amount, to)), order);
      // What is read at finalized is old when it lands; a hint is acted upon at once.
      if (commitment === "finalized") chain.advance(SLOTS_TO_LAND);
      await ledger.broadcast(bytes);
      chain.advance(2);
      const [status] = await ledger.statuses([signature]);
      tried += 1;
      if (status?.error === null) landed += 1;
    }
    chain.advance(DUST_EVERY - 10);
  }
  return [tried, landed];
}

describe("of an order that was refused", () => {
  test.for([
    ["SOL", ofSol],
    ["tokens", ofTokens],
  ] as const)(
    "%s: by the finalized amount no rest ever lands, by a hint the first one does",
    async ([, rest], { world }) => {
      expect(await anHour(world, rest, "finalized")).toEqual([30, 0]);
      expect(await anHour(world, rest, "confirmed")).toEqual([1, 1]);
    },
  );

  test.for([
    ["SOL", bareOfSol],
    ["tokens", bareOfTokens],
  ] as const)("%s: a bare one of the finalized amount lands beside the dust", async ([, rest], { world }) => {
    const [tried, landed] = await anHour(world, rest, "finalized");
    expect([tried, landed]).toEqual([1, 1]);
  });
});
