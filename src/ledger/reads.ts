/**
 * The table of every read of the chain: the strength of the answer, how many endpoints it needs, what an absence means, and
 * the decision that depends on it. A ledger reads here how many have to answer.
 */
import type { EvidenceBrand, HintBrand } from "./belief.ts";
import type { LedgerReads } from "./ledger.ts";

/**
 * The strength of an answer. `hint`: from one endpoint; a hint may start a look, order a queue or fill a page that says
 * so. `evidence`: only evidence moves money, ends or confirms a status, credits a deposit, closes a window or prices a
 * quote.
 */
type Belief = "hint" | "evidence";

/**
 * How many endpoints have to answer, else `LedgerUnavailable`. `one`: the first that answers is enough. `enough`: all
 * witnesses are asked, and as many as must agree have to answer. `any`: all are asked, and one has to answer. `none`: all are
 * asked, and silence is an answer, too.
 */
export type Witnesses = "one" | "enough" | "any" | "none";

/** A rule about a read. */
export interface ReadRule {
  readonly belief: Belief;
  readonly witnesses: Witnesses;
  /** What counts of the answers, and what an absence in them means. */
  readonly absence: string;
  /** The decision that depends on the answer, as a noun phrase. */
  readonly decides: string;
}

/**
 * The strength of an answer, derived from its type. An answer combined from several reads is evidence if one of its
 * parts is evidence, and each part has its own mark. A method without an answer decides nothing.
 */
type BeliefOf<Answer> = [NonNullable<Answer>] extends [void]
  ? "hint"
  : NonNullable<Answer> extends readonly (infer Part)[]
    ? BeliefOf<Part>
    : [NonNullable<Answer>] extends [HintBrand]
      ? MarkOf<NonNullable<Answer>>
      : MarkOf<Extract<PartsOf<NonNullable<Answer>>, HintBrand>>;

type MarkOf<Part> = [Part] extends [never] ? never : [Part] extends [EvidenceBrand] ? "evidence" : "hint";
type PartsOf<Answer> = Answer extends unknown ? Answer[keyof Answer] : never;

/** The rules that fit the methods: a line that says something else than the type of the method does not compile. */
export type RulesOf<Reads> = {
  readonly [Method in keyof Reads]: Reads[Method] extends (...asked: never[]) => Promise<infer Answer>
    ? ReadRule & { readonly belief: BeliefOf<Answer> }
    : never;
};

/** Every read, by the method of the ledger. A method that stands here in no line does not compile. */
export const READS = {
  genesisHash: {
    belief: "evidence",
    witnesses: "any",
    absence: "one chain alone; who is silent is believed once it has told the same",
    decides: "the chain that a database belongs to",
  },
  takesVersion1: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; no account: not switched on",
    decides: "whether transactions of version 1 are quoted and taken",
  },
  position: {
    belief: "hint",
    witnesses: "one",
    absence: "the word of one",
    decides: "the slot that health shows",
  },
  balances: {
    belief: "hint",
    witnesses: "one",
    absence: "an account that is not listed holds nothing",
    decides: "the answer of GET /v1/balances; where to look for foreign mints",
  },
  accountKinds: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; `absent` where so many show none",
    decides: "who can be paid",
  },
  mints: {
    belief: "hint",
    witnesses: "one",
    absence: "null: no mint there, as far as this endpoint knows",
    decides: "the warning of a wrong mint at start",
  },
  tokenAccountStates: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; `absent` where so many show none",
    decides:
      "the refusal of a quote that a frozen account keeps from being paid; whose rent is paid, and priced",
  },
  paymentCost: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; an account that so many do not show is to be paid for",
    decides: "the fees of a wallet quote",
  },
  buildPayment: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; an account that so many do not show is to be paid for",
    decides: "the fees and the transaction of a wallet quote",
  },
  verifyPayment: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike; a table that so many do not show refuses the bytes",
    decides: "the payment that a caller has signed: its tables and owners",
  },
  landingWindow: {
    belief: "evidence",
    witnesses: "enough",
    absence: "the furthest end counts; dead where so many say so at a slot that they had reached",
    decides: "until when a caller's bytes can land, by the furthest of endpoints that are not far apart",
  },
  simulatePayment: {
    belief: "evidence",
    witnesses: "enough",
    absence: "one success is enough; a failure is told alike by so many",
    decides: "the refusal of a payment; the success of one run is enough, since the chain decides",
  },
  broadcast: {
    belief: "hint",
    witnesses: "any",
    absence: "none took the bytes: unknown, never failed",
    decides: "nothing: bytes go to all endpoints",
  },
  statuses: {
    belief: "hint",
    witnesses: "one",
    absence: "null: this endpoint does not know it",
    decides: "which signatures are sent again, and which are looked at closely",
  },
  sightings: {
    belief: "evidence",
    witnesses: "enough",
    absence: "`confirmed` where so many show it in a block; `absent` where none that answers shows it",
    decides:
      "the status confirmed; that dead bytes without a marker have not landed, so that others take their place",
  },
  fates: {
    belief: "evidence",
    witnesses: "none",
    absence:
      "each answer counts; dead: so many prove it, and none that answers contradicts; who is silent leaves it open",
    decides: "the death of a caller's bytes; every endpoint may contradict it",
  },
  landings: {
    belief: "evidence",
    witnesses: "enough",
    absence:
      "shown alike by so many, or by an archive where no other can know; null: fewer show it finalized",
    decides: "the end of a wallet payment",
  },
  namedLanding: {
    belief: "evidence",
    witnesses: "any",
    absence: "one that shows it is enough; one that has the history without it contradicts",
    decides: "the end of a wallet payment that an operator vouches for",
  },
  witnesses: {
    belief: "evidence",
    witnesses: "none",
    absence: "who is silent does not count",
    decides: "how many endpoints answer",
  },
  endpoints: {
    belief: "hint",
    witnesses: "none",
    absence: "who is silent is shown as such",
    decides: "the diagnosis of each endpoint",
  },
  time: {
    belief: "evidence",
    witnesses: "none",
    absence: "null: fewer have told the same time within the hour; asks no node",
    decides: "whether the clock is right by which quotes and orders are taken",
  },
  rateLimited: {
    belief: "hint",
    witnesses: "none",
    absence: "asks no node",
    decides: "what attention tells of endpoints that are asked too often",
  },
  disputes: {
    belief: "evidence",
    witnesses: "none",
    absence: "asks no node",
    decides: "what health and attention tell of endpoints that differ",
  },
  funds: {
    belief: "evidence",
    witnesses: "enough",
    absence: "of each amount the most that so many show; an account that is absent holds nothing",
    decides: "whether purses, a desk or a wallet hold enough",
  },
  amountsIn: {
    belief: "hint",
    witnesses: "one",
    absence: "an account that is absent holds nothing",
    decides: "which deposit addresses are looked at closely",
  },
  holdingsOf: {
    belief: "evidence",
    witnesses: "enough",
    absence:
      "of each amount the most that so many show; an account that fewer list does not count, and is a dispute",
    decides:
      "the comparison of an address with the database; which foreign tokens are told; the money beside an order's own accounts that is shown and collected",
  },
  rentMinimum: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike",
    decides: "rents in prices, and the least that an account must hold",
  },
  readOrder: {
    belief: "evidence",
    witnesses: "enough",
    absence: "markers and rent told alike; null: so many show no marker; balances stand side by side",
    decides: "which markers of an order stand, what it holds, and so all that happens to it",
  },
  changesOfOrder: {
    belief: "evidence",
    witnesses: "enough",
    absence:
      "what any lists counts, its content is told alike; where none reaches back so far, absence proves nothing",
    decides:
      "who has paid an order, and whom a marker of another copy has paid; what any endpoint lists counts",
  },
  tryOrder: {
    belief: "evidence",
    witnesses: "enough",
    absence: "one success is enough; a failure is told alike by so many",
    decides:
      "which payee is left out, and the refusal of a swap; the success of one run is enough, since the chain decides",
  },
  heights: {
    belief: "evidence",
    witnesses: "enough",
    absence: "the height that so many have reached, and the highest",
    decides: "when bytes that were signed here can land no more",
  },
  feeOf: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike",
    decides: "network fees in prices and expenses",
  },
  buildTransaction: {
    belief: "evidence",
    witnesses: "enough",
    absence: "the fee is told alike",
    decides: "the fee of a payment; its blockhash is a hint",
  },
  checkForeignSwap: {
    belief: "evidence",
    witnesses: "enough",
    absence: "told alike",
    decides: "whether a transaction that a market has built is shown to its taker",
  },
  signedBy: {
    belief: "evidence",
    witnesses: "any",
    absence: "what any lists counts; absence proves nothing",
    decides: "the spending of a purse that the database does not know: what any endpoint lists",
  },
} as const satisfies RulesOf<LedgerReads>;

/** The reads of the port, and what is asked besides for their answers. */
export const QUESTIONS = {
  ...READS,
  priorityFees: {
    belief: "evidence",
    witnesses: "none",
    absence: "the lowest answer counts; who is silent bids nothing",
    decides: "a bid between the floor and the ceiling",
  },
  signers: {
    belief: "evidence",
    witnesses: "any",
    absence: "who does not have the transaction gives no answer; its signatures prove themselves",
    decides: "who signed a transaction",
  },
} as const satisfies Readonly<Record<string, ReadRule>>;

/** A question whose answer is evidence. */
export type EvidenceQuestion = {
  [Name in keyof typeof QUESTIONS]: (typeof QUESTIONS)[Name]["belief"] extends "evidence" ? Name : never;
}[keyof typeof QUESTIONS];
