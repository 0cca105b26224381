/** The table of every read of the chain: whether one node's word is enough, and what the answer decides. */
import type { LedgerReads } from "./ledger.ts";

/**
 * Whom a read believes. `hint`: one endpoint; the answer may start a look, order a queue or fill a page that says so.
 * `evidence`: as many endpoints as must agree; they alone move money, end or confirm a status, credit a deposit or close a
 * window. `every`: all endpoints that answer; the answer names the facts of each, or the most cautious of them.
 */
export type Belief = "hint" | "evidence" | "every";

/** One read. */
export interface ReadRule {
  readonly belief: Belief;
  /** What the answer decides, as a noun phrase. */
  readonly decides: string;
}

/** Every read, by the method of the ledger. A method that stands here in no line does not compile. */
export const READS = {
  genesisHash: { belief: "every", decides: "the chain that a database belongs to" },
  position: { belief: "hint", decides: "the slot that health shows" },
  balances: { belief: "hint", decides: "the answer of GET /v1/balances; where to look for foreign mints" },
  accountKinds: { belief: "evidence", decides: "who can be paid" },
  mints: { belief: "hint", decides: "the warning of a wrong mint at start" },
  tokenAccountStates: { belief: "hint", decides: "the warning of an unusable account at start" },
  paymentCost: { belief: "evidence", decides: "the fees of a wallet quote" },
  buildPayment: { belief: "evidence", decides: "the fees and the transaction of a wallet quote" },
  verifyPayment: {
    belief: "evidence",
    decides: "the payment that a caller has signed: its tables and owners",
  },
  simulatePayment: {
    belief: "evidence",
    decides: "the refusal of a payment; the success of one run is enough, since the chain decides",
  },
  broadcast: { belief: "every", decides: "nothing: bytes go to all endpoints" },
  statuses: { belief: "hint", decides: "which signatures are sent again, and which are looked at closely" },
  confirmed: { belief: "evidence", decides: "the status confirmed" },
  receipts: { belief: "evidence", decides: "the time and the fee that are shown" },
  fates: { belief: "evidence", decides: "the death of a caller's bytes; every endpoint may contradict it" },
  landings: { belief: "evidence", decides: "the end of a wallet payment" },
  namedLanding: { belief: "every", decides: "the end of a wallet payment that an operator vouches for" },
  witnesses: { belief: "every", decides: "how many endpoints answer" },
  endpoints: { belief: "every", decides: "the diagnosis of each endpoint" },
  disputes: { belief: "every", decides: "what health and attention tell of endpoints that differ" },
  funds: {
    belief: "evidence",
    decides: "the credit of deposits, the end of windows, room for orders; a hint at processed",
  },
  amountsIn: { belief: "hint", decides: "which deposit addresses are looked at closely" },
  fundsOfOwner: {
    belief: "evidence",
    decides: "the comparison of an address with the database, at finalized",
  },
  strayAccounts: { belief: "evidence", decides: "the deposits that are collected, at finalized" },
  haveTokenAccounts: { belief: "evidence", decides: "whose rent is paid, and how much of it a quote prices" },
  rentMinimum: { belief: "evidence", decides: "rents in prices, loans and markers" },
  markers: { belief: "every", decides: "what became of a payment; all that answer must tell the same" },
  heights: { belief: "every", decides: "when a marker may be closed" },
  feeOf: { belief: "evidence", decides: "network fees in prices and expenses" },
  buildTransaction: {
    belief: "evidence",
    decides: "the fee and the rents of a payment; its blockhash is a hint",
  },
  tryTransaction: {
    belief: "evidence",
    decides: "the fault of a payment; the success of one run is enough, since the chain decides",
  },
  signedBy: {
    belief: "every",
    decides: "the spending that the database does not know: what any endpoint lists",
  },
  signedWithin: {
    belief: "evidence",
    decides:
      "the innocence of an address after a gap in the lives of the database; what any endpoint lists counts",
  },
  markedBy: { belief: "every", decides: "the transaction that made a marker" },
  changesOf: {
    belief: "evidence",
    decides: "what a swap of another copy of the database has paid, once an operator has vouched for it",
  },
  payersOf: {
    belief: "evidence",
    decides: "the payers who are screened; a transaction that any endpoint lists must be explained",
  },
} as const satisfies Readonly<Record<keyof LedgerReads, ReadRule>>;
