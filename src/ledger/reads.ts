/**
 * The table of every read of the chain: the strength of the answer, the asked endpoints, and the decision that depends
 * on it.
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
 * The sources of an answer. `one`: the first endpoint that answers. `enough`: as many endpoints as must agree give the
 * same answer, or confirm it. `all`: at least as many endpoints as must agree answer, and every answer counts: all must
 * be equal, or the most cautious answer is taken. `any`: an entry in any endpoint's answer counts.
 */
type Witnesses = "one" | "enough" | "all" | "any";

/** A rule about a read. */
export interface ReadRule {
  readonly belief: Belief;
  readonly witnesses: Witnesses;
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
  genesisHash: { belief: "evidence", witnesses: "any", decides: "the chain that a database belongs to" },
  takesVersion1: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whether transactions of version 1 are quoted and taken",
  },
  position: { belief: "hint", witnesses: "one", decides: "the slot that health shows" },
  balances: {
    belief: "hint",
    witnesses: "one",
    decides: "the answer of GET /v1/balances; where to look for foreign mints",
  },
  accountKinds: { belief: "evidence", witnesses: "enough", decides: "who can be paid" },
  mints: { belief: "hint", witnesses: "one", decides: "the warning of a wrong mint at start" },
  tokenAccountStates: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the refusal of a quote that a frozen account keeps from being paid",
  },
  paymentCost: { belief: "evidence", witnesses: "enough", decides: "the fees of a wallet quote" },
  buildPayment: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the fees and the transaction of a wallet quote",
  },
  verifyPayment: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the payment that a caller has signed: its tables and owners",
  },
  landingWindow: {
    belief: "evidence",
    witnesses: "all",
    decides: "until when a caller's bytes can land, by the furthest of endpoints that are not far apart",
  },
  simulatePayment: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the refusal of a payment; the success of one run is enough, since the chain decides",
  },
  broadcast: { belief: "hint", witnesses: "any", decides: "nothing: bytes go to all endpoints" },
  statuses: {
    belief: "hint",
    witnesses: "one",
    decides: "which signatures are sent again, and which are looked at closely",
  },
  confirmed: { belief: "evidence", witnesses: "enough", decides: "the status confirmed" },
  landedErrors: {
    belief: "evidence",
    witnesses: "enough",
    decides: "that a payment failed on the chain, and which payee is left out",
  },
  receipts: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "the time and the fee that are shown, and the landing of a version whose marker another copy has closed",
  },
  fates: {
    belief: "evidence",
    witnesses: "all",
    decides: "the death of a caller's bytes; every endpoint may contradict it",
  },
  landings: { belief: "evidence", witnesses: "enough", decides: "the end of a wallet payment" },
  namedLanding: {
    belief: "evidence",
    witnesses: "any",
    decides: "the end of a wallet payment that an operator vouches for",
  },
  witnesses: { belief: "evidence", witnesses: "any", decides: "how many endpoints answer" },
  endpoints: { belief: "hint", witnesses: "any", decides: "the diagnosis of each endpoint" },
  time: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whether the clock is right by which quotes and orders are taken",
  },
  rateLimited: {
    belief: "hint",
    witnesses: "any",
    decides: "what attention tells of endpoints that are asked too often",
  },
  disputes: {
    belief: "evidence",
    witnesses: "any",
    decides: "what health and attention tell of endpoints that differ",
  },
  funds: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the credit of deposits, the end of windows, room for orders",
  },
  seenFunds: {
    belief: "evidence",
    witnesses: "all",
    decides: "whether an order can still be cancelled: money that any endpoint shows keeps it",
  },
  amountsIn: { belief: "hint", witnesses: "one", decides: "which deposit addresses are looked at closely" },
  fundsOfOwner: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the comparison of an address with the database; which foreign tokens are told",
  },
  strayAccounts: { belief: "evidence", witnesses: "enough", decides: "the deposits that are collected" },
  haveTokenAccounts: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whose rent is paid, and how much of it a quote prices",
  },
  rentMinimum: { belief: "evidence", witnesses: "enough", decides: "rents in prices, loans and markers" },
  markers: {
    belief: "evidence",
    witnesses: "all",
    decides: "what became of a payment; all that answer must tell the same",
  },
  heights: { belief: "evidence", witnesses: "all", decides: "when a marker may be closed" },
  feeOf: { belief: "evidence", witnesses: "enough", decides: "network fees in prices and expenses" },
  buildTransaction: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the fee and the rents of a payment; its blockhash is a hint",
  },
  tryTransaction: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the fault of a payment; the success of one run is enough, since the chain decides",
  },
  checkForeignSwap: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whether a transaction that a market has built is shown to its taker",
  },
  signedBy: {
    belief: "evidence",
    witnesses: "any",
    decides: "the spending that the database does not know: what any endpoint lists",
  },
  signedWithin: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "the innocence of an address after a gap in the lives of the database; what any endpoint lists counts",
  },
  markedBy: { belief: "evidence", witnesses: "any", decides: "the transaction that made a marker" },
  listedUnder: {
    belief: "hint",
    witnesses: "one",
    decides: "the transactions that are read for the name of a deposit",
  },
  changesOf: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "what a refund or swap of another copy of the database has paid, on the word of an operator; the name of a deposit",
  },
  payersOf: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "the payers who are screened, and those shown; a transaction that any endpoint lists must be explained",
  },
} as const satisfies RulesOf<LedgerReads>;
