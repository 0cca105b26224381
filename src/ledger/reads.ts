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
  seen: {
    belief: "evidence",
    witnesses: "any",
    decides: "that dead bytes without a marker have not landed, so that others take their place",
  },
  receipts: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the time and the fee that are shown",
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
    decides: "whether purses, a desk or a wallet hold enough",
  },
  amountsIn: { belief: "hint", witnesses: "one", decides: "which deposit addresses are looked at closely" },
  fundsOfOwner: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the comparison of an address with the database; which foreign tokens are told",
  },
  strayAccounts: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the money beside an order's own accounts that is shown and collected",
  },
  haveTokenAccounts: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whose rent is paid, and how much of it a quote prices",
  },
  rentMinimum: {
    belief: "evidence",
    witnesses: "enough",
    decides: "rents in prices, and the least that an account must hold",
  },
  readOrder: {
    belief: "evidence",
    witnesses: "enough",
    decides: "which markers of an order stand, what it holds, and so all that happens to it",
  },
  changesOfOrder: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "who has paid an order, and whom a marker of another copy has paid; what any endpoint lists counts",
  },
  tryOrder: {
    belief: "evidence",
    witnesses: "enough",
    decides:
      "which payee is left out, and the refusal of a swap; the success of one run is enough, since the chain decides",
  },
  heights: {
    belief: "evidence",
    witnesses: "all",
    decides: "when bytes that were signed here can land no more",
  },
  feeOf: { belief: "evidence", witnesses: "enough", decides: "network fees in prices and expenses" },
  buildTransaction: {
    belief: "evidence",
    witnesses: "enough",
    decides: "the fee of a payment; its blockhash is a hint",
  },
  checkForeignSwap: {
    belief: "evidence",
    witnesses: "enough",
    decides: "whether a transaction that a market has built is shown to its taker",
  },
  signedBy: {
    belief: "evidence",
    witnesses: "any",
    decides: "the spending of a purse that the database does not know: what any endpoint lists",
  },
} as const satisfies RulesOf<LedgerReads>;
