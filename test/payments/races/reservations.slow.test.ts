/** What a quote has set aside of the desk: kept for its swap or released to somebody else, whichever commits first. */
import { afterEach, expect, test } from "vitest";
import { isPaymentError } from "../../../src/errors/errors.ts";
import type { QuoteBody } from "../../../src/payments/frame/quotes/quote-body.ts";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import { adapters } from "../../kit/adapters.ts";
import { meetAtEveryCommit, type Ending } from "../../kit/meet-at-every-commit.ts";
import { units } from "../../kit/money.ts";
import { INVENTORY } from "../../kit/swap-fixture.ts";
import { drawn } from "../../kit/thorough.ts";
import { racesWorld, type RacesWorld } from "./races-world.ts";

const DESK_USDC = INVENTORY.usdc ?? 0n;

let world: RacesWorld;
afterEach(() => world.close());

const resource = (): string => `desk ${world.desk} gives ${world.mints.USDC}`;
const isRefused = (ending: Ending<unknown>): boolean =>
  ending.status === "rejected" && isPaymentError(ending.reason, "INSUFFICIENT_LIQUIDITY");

/** A quote whose time with the desk is over before its own, and somebody else who needs what it has set aside. */
interface Contest {
  readonly quote: QuoteBody;
  readonly rival: Caller;
}

const FILLING = "filling";

/** Gives back what earlier contests have taken up, but what their swaps keep. */
async function clear(): Promise<void> {
  const rows = await world.database.reservations(resource());
  const writes = rows
    .filter(({ id, lapsesAt }) => lapsesAt !== null || id.startsWith(FILLING))
    .map(({ id }) => ({ table: "reservations" as const, id, set: { releasedAt: world.clock.now() } }));
  expect(await world.database.commit([{ writes }])).toEqual([{ ok: true }]);
}

async function contest(): Promise<Contest> {
  await clear();
  await world.newCustomer("enterprise");
  world.chain.advance(3);
  const first = await world.quoteFor("wallet", "swap");
  // However often it is refreshed, the desk sets aside for two minutes.
  const refresh = async (): Promise<QuoteBody> => {
    world.clock.advance(25_000);
    const { body } = await world.service.refreshQuote(world.customer(), first.quoteId);
    return Object.assign(first, body);
  };
  for (let times = 0; times < 3; times++) await refresh();
  const quote = await refresh();
  world.clock.advance(22_000);
  const rows = await world.database.reservations(resource());
  const amount = DESK_USDC - rows.reduce((sum, row) => sum + row.amount, 0n);
  const filling = {
    version: 1,
    resource: resource(),
    amount,
    createdAt: 0,
    lapsesAt: null,
    releasedAt: null,
  };
  const insert = { ...filling, id: `${FILLING} ${quote.quoteId}` };
  expect(await world.database.commit([{ writes: [{ table: "reservations", insert }] }])).toEqual([
    { ok: true },
  ]);
  return { quote, rival: await world.caller() };
}

test.each(drawn(adapters, "kept and released"))(
  "a reservation that is kept meanwhile is not released, and one that is released is not kept, on $name",
  async (adapter) => {
    world = await racesWorld(adapter);
    const winners = new Set<string>();
    const swaps: QuoteBody[] = [];
    await meetAtEveryCommit({
      arrange: contest,
      one: async ({ quote }, through) => {
        const service = await world.process("one", through);
        const body = world.bodyFor(quote, "wallet", "swap");
        return (await service.createTransaction(world.customer(), body)).body.transactionId;
      },
      other: async ({ rival }, through) => {
        const service = await world.process("other", through);
        const request = { inputAsset: "SOL", outputAsset: "USDC", amount: "1", sender: world.alice.address };
        return (await service.createQuote(rival, request)).body.quoteId;
      },
      judge: async ({ quote }, posted, quoted) => {
        const rows = await world.database.reservations(resource());
        expect(rows.reduce((sum, { amount }) => sum + amount, 0n)).toBe(DESK_USDC);
        expect([posted, quoted].filter(isRefused)).toHaveLength(1);
        const isKept = posted.status === "fulfilled";
        winners.add(isKept ? "swap" : "rival");
        swaps.push(...(isKept ? [quote] : []));
        const ofQuote = rows.filter(({ id }) => id.startsWith(quote.quoteId));
        expect(ofQuote.map(({ lapsesAt }) => lapsesAt)).toEqual(isKept ? [null] : []);
      },
    });
    expect(winners).toEqual(new Set(["swap", "rival"]));
    await world.finalize();
    const [, has] = await world.held(world.desk);
    const given = swaps.reduce((sum, { outputAmount }) => sum + units(outputAmount, 6), 0n);
    // One swap more was taken without a rival.
    expect(DESK_USDC - has).toBe(given + units(swaps[0]?.outputAmount ?? "0", 6));
  },
);
