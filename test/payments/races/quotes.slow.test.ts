/** One quote that two requests race for: used once, priced once, whichever commits first. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { isPaymentError } from "../../../src/errors/errors.ts";
import type { RefreshedQuoteBody, QuoteBody } from "../../../src/payments/frame/quotes/quote-body.ts";
import type { RequestOptions } from "../../../src/payments/frame/accounts/answer-once.ts";
import type { TransactionRequest } from "../../../src/payments/frame/requests.ts";
import { adapters } from "../../kit/adapters.ts";
import { meetAtEveryCommit, type Ending, type Through } from "../../kit/meet-at-every-commit.ts";
import { drawn, sampled, THOROUGH } from "../../kit/thorough.ts";
import { refusal } from "../wallet/wallet-world.ts";
import { MODES, TYPES, type Mode, type Type } from "../../kit/modes.ts";
import { racesWorld, type RacesWorld } from "./races-world.ts";

let world: RacesWorld;

type Posted = { readonly transactionId: string };
type Which = "one" | "other";

/** A quote, two bodies for it, and what was there before. */
interface Rivals {
  readonly quote: QuoteBody;
  readonly one: TransactionRequest;
  readonly other: TransactionRequest;
  readonly before: Kept;
}

/** What the database keeps of requests that were granted. */
interface Kept {
  readonly transactions: readonly string[];
  /** Reserved of the sponsor. */
  readonly orders: readonly string[];
}

async function kept(): Promise<Kept> {
  const { database, customer, sponsor } = world;
  const page = { below: null, limit: 1_000 };
  return {
    transactions: (await database.transactionsOf(customer().accountId, null, page)).map(({ id }) => id),
    orders: (await database.reservations(`sponsor ${sponsor.address}`)).map(({ id }) => id),
  };
}

/** What of the desk is set aside for a quote, in base units, and whether for its swap. */
async function setAside({ quote }: Rivals): Promise<readonly { amount: bigint; isKept: boolean }[]> {
  const rows = await world.database.reservations(`desk ${world.desk} gives ${world.mints.USDC}`);
  return rows
    .filter(({ id }) => id.startsWith(quote.quoteId))
    .map(({ amount, lapsesAt }) => ({ amount, isKept: lapsesAt === null }));
}

const newIn = (now: readonly string[], before: readonly string[]): readonly string[] =>
  now.filter((id) => !before.includes(id));

/** Expects one transaction of the quote, and nothing kept of a request that lost. */
async function expectOne(rivals: Rivals, won: readonly string[]): Promise<void> {
  const { quote, before } = rivals;
  expect(won).toHaveLength(1);
  const stored = await world.database.quote(quote.quoteId);
  expect(stored?.usedBy).toBe(won[0]);
  const now = await kept();
  expect(newIn(now.transactions, before.transactions)).toEqual(won);
  expect(newIn(now.orders, before.orders)).toEqual(quote.mode === "private" ? won : []);
  const isSwap = quote.mode === "wallet" && quote.inputAsset !== quote.outputAsset;
  expect(await setAside(rivals)).toEqual(isSwap ? [{ amount: stored?.outputAmount, isKept: true }] : []);
}

const reasonOf = (ending: Ending<unknown>): unknown => {
  if (ending.status === "fulfilled") return null;
  const reason: unknown = ending.reason;
  if (isPaymentError(reason, "INVALID_QUOTE")) return reason.details.reason;
  return isPaymentError(reason) ? reason.code : reason;
};

const idsOf = (...endings: readonly Ending<Posted>[]): readonly string[] =>
  endings.flatMap((each) => (each.status === "fulfilled" ? [each.value.transactionId] : []));

const posting =
  (which: Which, options: RequestOptions = {}) =>
  async (rivals: Rivals, through: Through): Promise<Posted & { readonly text: string }> => {
    const service = await world.process(which, through);
    const { body, text } = await service.createTransaction(world.customer(), rivals[which], options);
    return { transactionId: body.transactionId, text };
  };

const refreshing =
  (which: Which, optionsOf: (rivals: Rivals) => RequestOptions = () => ({})) =>
  async (rivals: Rivals, through: Through): ReturnType<PaymentService["refreshQuote"]> => {
    const service = await world.process(which, through);
    return service.refreshQuote(world.customer(), rivals.quote.quoteId, optionsOf(rivals));
  };

/** A quote with one body for it, twice. */
async function sameFor(mode: Mode, type: Type): Promise<Rivals> {
  // A new block: the same payment twice in one would be the same bytes.
  world.chain.advance(3);
  await world.newCustomer("enterprise");
  return quotedFor(mode, type);
}

async function quotedFor(mode: Mode, type: Type): Promise<Rivals> {
  const before = await kept();
  const quote = await world.quoteFor(mode, type);
  const one = world.bodyFor(quote, mode, type);
  return { quote, one, other: one, before };
}

/** Two bodies for one quote: of a wallet's send and payroll two transactions, signed over different blockhashes. */
async function rivalsFor(mode: Mode, type: Type): Promise<Rivals> {
  const rivals = await sameFor(mode, type);
  const { quote, one } = rivals;
  if (mode === "private" || type === "swap") return { ...rivals, other: { ...one, reference: "other" } };
  world.chain.advance(3);
  const { body } = await world.service.refreshQuote(world.customer(), quote.quoteId);
  return { ...rivals, other: world.bodyFor({ ...quote, ...body }, mode, type) };
}

/** What a refreshed quote was told to cost and to bring. */
const termsOf = ({ outputAmount, inputAmount, expiresAt }: RefreshedQuoteBody): readonly string[] => [
  outputAmount,
  inputAmount,
  expiresAt,
];

async function storedTerms({ quote }: Rivals): Promise<readonly string[]> {
  const body = await world.service.quote(world.customer(), quote.quoteId);
  return [body.outputAmount, body.inputAmount, body.expiresAt];
}

/** Expects the terms that were told last, and a transaction that has them. */
const expectLastTerms =
  (mode: Mode, type: Type) =>
  async (
    rivals: Rivals,
    posted: Ending<Posted>,
    refreshed: Ending<{ readonly body: RefreshedQuoteBody }>,
  ): Promise<void> => {
    const { quoteId } = rivals.quote;
    if (refreshed.status === "fulfilled") {
      expect(await storedTerms(rivals)).toEqual(termsOf(refreshed.value.body));
    } else {
      const { outputAmount, inputAmount, expiresAt } = rivals.quote;
      expect(await storedTerms(rivals)).toEqual([outputAmount, inputAmount, expiresAt]);
      expect(reasonOf(refreshed)).toBe("used");
    }
    let ids = idsOf(posted);
    if (posted.status === "rejected") {
      // What it brings was priced anew: the old terms are not had any more, the new ones are.
      expect([type, reasonOf(posted), refreshed.status]).toEqual(["swap", "amount_mismatch", "fulfilled"]);
      if (refreshed.status === "rejected") throw new Error("one of the two was granted");
      const body = world.bodyFor({ ...rivals.quote, ...refreshed.value.body }, mode, type);
      ids = [(await world.service.createTransaction(world.customer(), body)).body.transactionId];
    }
    await expectOne(rivals, ids);
    const stored = await world.database.quote(quoteId);
    if (mode === "private") {
      const view = await world.database.orderedTransaction(ids[0] ?? ""); // modules: private
      expect(view?.order?.order.required).toBe(stored?.inputAmount); // modules: private
    }
    const [row] = await world.database.transactionViews([ids[0] ?? ""]);
    if (type === "swap") expect(row?.recipients[0]?.amount).toBe(stored?.outputAmount);
  };

/** Expects the terms of one of two refreshes, and that only its transaction is taken. */
const expectOneRefresh =
  (mode: Mode, type: Type) =>
  async (
    rivals: Rivals,
    one: Ending<{ readonly body: RefreshedQuoteBody }>,
    other: Ending<{ readonly body: RefreshedQuoteBody }>,
  ): Promise<void> => {
    if (one.status === "rejected" || other.status === "rejected") {
      throw new Error("both are granted", { cause: [one, other] });
    }
    const stored = await world.database.quote(rivals.quote.quoteId);
    expect([stored?.version, stored?.usedBy]).toEqual([3, null]);
    const answers = [one.value.body, other.value.body];
    expect(answers.map(termsOf)).toContainEqual(await storedTerms(rivals));
    const isPromised = mode === "wallet" && type === "swap";
    expect(await setAside(rivals)).toEqual(
      isPromised ? [{ amount: stored?.outputAmount, isKept: false }] : [],
    );
    const post = (body: RefreshedQuoteBody): Promise<Posted> =>
      world.service
        .createTransaction(world.customer(), world.bodyFor({ ...rivals.quote, ...body }, mode, type))
        .then((answer) => answer.body);
    if (isPromised) {
      // Only the newest of its transactions is ever signed.
      const tries = await Promise.allSettled(answers.map(post));
      const refused = tries.map(reasonOf).filter((reason) => reason !== null);
      expect([["INVALID_SIGNATURE"], ["used"]]).toContainEqual(refused);
      await expectOne(rivals, idsOf(...tries));
    } else {
      await expectOne(rivals, [(await post(answers[0] as RefreshedQuoteBody)).transactionId]);
    }
  };

describe.each(drawn(adapters, "races for a quote"))("on $name", (adapter) => {
  const typesFor = (about: string): readonly Type[] =>
    adapter.name === "memory" || THOROUGH ? sampled(TYPES, about) : ["send"];
  beforeAll(async () => {
    world = await racesWorld(adapter);
  });
  afterAll(() => world.close());
  beforeEach(() => world.setDollars(150n));

  describe.each(MODES)("E4: one quote in two %s transactions at once", (mode) => {
    test.each(typesFor(`${mode} rivals`))(
      "is used by exactly one %s, and the other is told so",
      async (type) => {
        // Of a wallet's swap there is one message, so the second is the same bytes under another body.
        const told = mode === "wallet" && type === "swap" ? "DUPLICATE_TRANSACTION" : "used";
        const winners = new Set<Which>();
        const [, had] = await world.held(world.bob.address);
        let quoted = 0n;
        await meetAtEveryCommit({
          arrange: () => {
            quoted += 1n;
            return rivalsFor(mode, type);
          },
          one: posting("one"),
          other: posting("other"),
          judge: async (rivals, one, other) => {
            expect([reasonOf(one), reasonOf(other)].filter((each) => each !== null)).toEqual([told]);
            await expectOne(rivals, idsOf(one, other));
            winners.add(one.status === "fulfilled" ? "one" : "other");
          },
        });
        expect(winners).toEqual(new Set(["one", "other"]));
        if (mode === "private") return;
        await world.finalize();
        const [, has] = await world.held(world.bob.address);
        expect(has - had).toBe(type === "swap" ? 0n : quoted * 1_000_000n);
      },
    );

    test.each(typesFor(`the same ${mode} request`))(
      "E18: the same %s without a key is one transaction, and both are told of it",
      async (type) => {
        await meetAtEveryCommit({
          arrange: () => sameFor(mode, type),
          one: posting("one"),
          other: posting("other"),
          judge: async (rivals, one, other) => {
            const [id, ...others] = new Set(idsOf(one, other));
            expect([reasonOf(one), reasonOf(other), others]).toEqual([null, null, []]);
            await expectOne(rivals, [id ?? ""]);
            const texts = [one, other].map((each) => (each.status === "fulfilled" ? each.value.text : ""));
            expect(texts[1]).toBe(texts[0]);
          },
        });
      },
    );
  });

  test.each(MODES)(
    "a %s request that is held up until another was told that the quote has expired takes nothing",
    async (mode) => {
      await meetAtEveryCommit({
        arrange: () => sameFor(mode, "send"),
        one: posting("one"),
        async other(rivals, through) {
          world.clock.set(Date.parse(rivals.quote.expiresAt));
          return posting("other")(rivals, through);
        },
        inBothOrders: false,
        judge: async (rivals, one, other) => {
          // One was taken before, and both are told of it, or both are refused.
          expect(reasonOf(other)).toBe(reasonOf(one));
          if (one.status === "fulfilled") return expectOne(rivals, [...new Set(idsOf(one, other))]);
          expect(reasonOf(one)).toBe("expired");
          expect(newIn((await kept()).transactions, rivals.before.transactions)).toEqual([]);
        },
      });
    },
  );

  test.each(MODES)(
    "E4: a %s quote in a transaction of each mode at once is used in its own",
    async (mode) => {
      await meetAtEveryCommit({
        arrange: async () => {
          const rivals = await sameFor(mode, "send");
          const others = mode === "wallet" ? "private" : "wallet";
          const { transaction } = await world.quoteFor("wallet", "send");
          const quote = { ...rivals.quote, ...(transaction === undefined ? {} : { transaction }) };
          return { ...rivals, other: world.bodyFor(quote, others, "send") };
        },
        one: posting("one"),
        other: posting("other"),
        judge: async (rivals, one, other) => {
          expect(reasonOf(one)).toBe(null);
          expect(["used", "mode_mismatch"]).toContain(reasonOf(other));
          await expectOne(rivals, idsOf(one));
        },
        // It is refused before it commits anything.
        inBothOrders: false,
      });
    },
  );

  describe.each(MODES)("a refresh while its %s quote is used", (mode) => {
    test.each(typesFor(`a ${mode} refresh`))(
      "is either before it or refused: the %s has the terms that were told last",
      async (type) => {
        const refused = new Set<unknown>();
        await meetAtEveryCommit({
          arrange: async () => {
            world.setDollars(150n);
            const rivals = await sameFor(mode, type);
            world.setDollars(151n);
            return rivals;
          },
          one: posting("one"),
          other: refreshing("other"),
          judge: async (rivals, posted, refreshed) => {
            refused.add(reasonOf(refreshed));
            await expectLastTerms(mode, type)(rivals, posted, refreshed);
          },
        });
        expect(refused).toEqual(new Set([null, "used"]));
      },
    );

    test.each(typesFor(`two ${mode} refreshes`))(
      "refreshed twice at once it has the terms of one of the two, set aside once: %s",
      async (type) => {
        await meetAtEveryCommit({
          arrange: () => sameFor(mode, type),
          one: refreshing("one"),
          other: refreshing("other"),
          judge: expectOneRefresh(mode, type),
        });
      },
    );
  });

  test("E1: a refresh under one key twice at once is one refresh, and both get its answer", async () => {
    await meetAtEveryCommit({
      arrange: () => sameFor("wallet", "send"),
      one: refreshing("one", ({ quote }) => ({ idempotencyKey: quote.quoteId })),
      other: refreshing("other", ({ quote }) => ({ idempotencyKey: quote.quoteId })),
      judge: async (rivals, one, other) => {
        if (one.status === "rejected" || other.status === "rejected") throw new Error("both are granted");
        expect(other.value.text).toBe(one.value.text);
        expect(new Set([one.value.replayed, other.value.replayed])).toEqual(new Set([false, true]));
        expect((await world.database.quote(rivals.quote.quoteId))?.version).toBe(2);
      },
    });
  });
});

describe("where the sponsor has room for one order", () => {
  beforeAll(async () => {
    const [memory] = adapters;
    if (memory === undefined) throw new Error("there is an adapter");
    world = await racesWorld(memory);
  });
  afterAll(() => world.close());

  /** Fills all of the account's share but one order, and quotes that one. */
  async function roomForOne(type: Type): Promise<Rivals> {
    await world.newCustomer("free");
    const { quote, one } = await quotedFor("private", type);
    await world.service.createTransaction(world.customer(), one);
    const share = `sponsor ${world.sponsor.address} of ${world.customer().accountId}`;
    const [row] = await world.database.reservations(share);
    const [lamports] = await world.held(world.sponsor.address);
    if (row === undefined) throw new Error(`${quote.quoteId} reserves nothing`);
    const amount = (lamports * 2n) / 100n - row.amount * 2n;
    const insert = { ...row, id: `filling of ${world.customer().accountId}`, amount };
    expect(await world.database.commit([{ writes: [{ table: "reservations", insert }] }])).toEqual([
      { ok: true },
    ]);
    return quotedFor("private", type);
  }

  test("E4: of two orders of one quote the one that lost is told that the quote is used", async () => {
    await meetAtEveryCommit({
      arrange: async () => {
        const rivals = await roomForOne("payroll");
        return { ...rivals, other: { ...rivals.one, reference: "other" } };
      },
      one: posting("one"),
      other: posting("other"),
      judge: async (rivals, one, other) => {
        expect([reasonOf(one), reasonOf(other)].filter((each) => each !== null)).toEqual(["used"]);
        await expectOne(rivals, idsOf(one, other));
      },
    });
    const refused = await refusal(
      posting("one")(await quotedFor("private", "payroll"), (outside) => outside),
    );
    expect([refused.code, refused.details]).toMatchObject(["ROUTING_UNAVAILABLE", { reason: "capacity" }]);
  });

  test.each([["E18", {}] as const, ["E3", { idempotencyKey: "k" }] as const])(
    "%s: the same order twice at once is one order, and both get its answer",
    async (_case, options) => {
      await meetAtEveryCommit({
        arrange: async () => {
          return roomForOne("send");
        },
        one: posting("one", options),
        other: posting("other", options),
        judge: async (rivals, one, other) => {
          expect([reasonOf(one), reasonOf(other)]).toEqual([null, null]);
          await expectOne(rivals, [...new Set(idsOf(one, other))]);
        },
      });
    },
  );
});
