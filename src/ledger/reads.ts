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
  /** The counting of answers, and the meaning of an absence in them. */
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

/** A line of the table: how many have to answer, what counts of it and what an absence means, and what it decides. */
const hint = line("hint");
const evidence = line("evidence");

function line<const Kind extends Belief>(belief: Kind) {
  return <const Needed extends Witnesses>(
    witnesses: Needed,
    absence: string,
    decides: string,
  ): ReadRule & { readonly belief: Kind; readonly witnesses: Needed } => ({
    belief,
    witnesses,
    absence,
    decides,
  });
}

/** Every read, by the method of the ledger. A method that stands here in no line does not compile. */
export const READS = {
  genesisHash: evidence(
    "any",
    "one chain alone; who is silent is believed once it has told the same",
    "the chain that a database belongs to",
  ),
  takesVersion1: evidence(
    "enough",
    "told alike; no account: not switched on",
    "whether transactions of version 1 are quoted and taken",
  ),
  position: hint("one", "the word of one", "the slot that health shows"),
  balances: hint(
    "one",
    "an account that is not listed holds nothing",
    "the answer of GET /v1/balances; where to look for foreign mints",
  ),
  accountKinds: evidence("enough", "told alike; `absent` where so many show none", "who can be paid"),
  mints: hint(
    "one",
    "null: no mint there, as far as this endpoint knows",
    "the warning of a wrong mint at start",
  ),
  tokenAccountStates: evidence(
    "enough",
    "told alike; `absent` where so many show none",
    "the refusal of a quote that a frozen account keeps from being paid; whose rent is paid, and priced",
  ),
  paymentCost: evidence(
    "enough",
    "told alike; an account that so many do not show is to be paid for",
    "the fees of a wallet quote",
  ),
  buildPayment: evidence(
    "enough",
    "told alike; an account that so many do not show is to be paid for",
    "the fees and the transaction of a wallet quote",
  ),
  verifyPayment: evidence(
    "enough",
    "told alike; a table that so many do not show refuses the bytes",
    "the payment that a caller has signed: its tables and owners",
  ),
  landingWindow: evidence(
    "enough",
    "the furthest end counts; dead where so many say so at a slot that they had reached",
    "until when a caller's bytes can land, by the furthest of endpoints that are not far apart",
  ),
  simulatePayment: evidence(
    "enough",
    "one success is enough; a failure is told alike by so many",
    "the refusal of a payment; the success of one run is enough, since the chain decides",
  ),
  broadcast: hint("any", "none took the bytes: unknown, never failed", "nothing: bytes go to all endpoints"),
  statuses: hint(
    "one",
    "null: this endpoint does not know it",
    "which signatures are sent again, and which are looked at closely",
  ),
  sightings: evidence(
    "enough",
    "`confirmed` where so many show it in a block; `absent` where none that answers shows it",
    "the status confirmed of a transfer; that its dead bytes have not landed, so that others take their place",
  ),
  look: evidence(
    "none",
    "a standing, where so many answer; dead: so many prove it, and none that answers contradicts; who is silent leaves it open",
    "the status confirmed, and the death of a caller's bytes; every endpoint may contradict it",
  ),
  landings: evidence(
    "enough",
    "shown alike by so many, or by an archive where no other can know; null: fewer show it finalized",
    "the end of a wallet payment",
  ),
  namedLanding: evidence(
    "any",
    "one that shows it is enough; one that has the history without it contradicts",
    "the end of a wallet payment that an operator vouches for",
  ),
  witnesses: evidence("none", "who is silent does not count", "how many endpoints answer"),
  endpoints: hint("none", "who is silent is shown as such", "the diagnosis of each endpoint"),
  time: evidence(
    "none",
    "null: fewer have told the same time within the hour; asks no node",
    "whether the clock is right by which quotes and orders are taken",
  ),
  rateLimited: hint("none", "asks no node", "what attention tells of endpoints that are asked too often"),
  disputes: evidence("none", "asks no node", "what health and attention tell of endpoints that differ"),
  funds: evidence(
    "enough",
    "of each amount the most that so many show; an account that is absent holds nothing",
    "whether purses, a desk or a wallet hold enough",
  ),
  amountsIn: hint(
    "one",
    "an account that is absent holds nothing",
    "which deposit addresses are looked at closely",
  ),
  holdingsOf: evidence(
    "enough",
    "of each amount the most that so many show; an account that fewer list does not count, and is a dispute",
    "the comparison of an address with the database; which foreign tokens are told; the money beside an order's own accounts that is shown and collected",
  ),
  rentMinimum: evidence("enough", "told alike", "rents in prices, and the least that an account must hold"),
  readOrder: evidence(
    "enough",
    "markers and rent told alike; null: so many show no marker; balances stand side by side",
    "which markers of an order stand, what it holds, and so all that happens to it",
  ),
  changesOfOrder: evidence(
    "enough",
    "what any lists counts, its content is told alike; where none reaches back so far, absence proves nothing",
    "who has paid an order, and whom a marker of another copy has paid; what any endpoint lists counts",
  ),
  tryOrder: evidence(
    "enough",
    "one success is enough; a failure is told alike by so many",
    "which payee is left out, and the refusal of a swap; the success of one run is enough, since the chain decides",
  ),
  heights: evidence(
    "enough",
    "the height that so many have reached, and the highest",
    "when bytes that were signed here can land no more",
  ),
  feeOf: evidence("enough", "told alike", "network fees in prices and expenses"),
  buildTransaction: evidence(
    "enough",
    "the fee is told alike",
    "the fee of a payment; its blockhash is a hint",
  ),
  checkForeignSwap: evidence(
    "enough",
    "told alike",
    "whether a transaction that a market has built is shown to its taker",
  ),
  signedBy: evidence(
    "any",
    "what any lists counts; absence proves nothing",
    "the spending of a purse that the database does not know: what any endpoint lists",
  ),
} satisfies RulesOf<LedgerReads>;

/** The reads of the port, and what is asked besides for their answers. */
export const QUESTIONS = {
  ...READS,
  priorityFees: evidence(
    "none",
    "the lowest answer counts; who is silent bids nothing",
    "a bid between the floor and the ceiling",
  ),
  signers: evidence(
    "any",
    "who does not have the transaction gives no answer; its signatures prove themselves",
    "who signed a transaction",
  ),
};

type Questions = typeof QUESTIONS;

/** A question whose answer is evidence. */
export type EvidenceQuestion = {
  [Name in keyof Questions]: Questions[Name]["belief"] extends "evidence" ? Name : never;
}[keyof Questions];

/** One that as many endpoints answer as must agree: their answers can be compared. */
export type ComparedQuestion = {
  [Name in EvidenceQuestion]: Questions[Name]["witnesses"] extends "enough" ? Name : never;
}[EvidenceQuestion];
