/** What quotes and refunds cost, in lamports: the formulas of the protocol, written a second time. */

/** The two signatures of a transaction, and one more. */
export const FEE = 10_000;
export const SIGNATURE = 5_000;

/** What every account is charged for besides its data. */
const HEAD_BYTES = 128;
/** The data of a token account. */
export const TOKEN_ACCOUNT_BYTES = 165;

/** The rent of so many bytes at a rate, which is in lamports a byte. */
export function rentOf(rate: number, bytes: number): number {
  return (HEAD_BYTES + bytes) * rate;
}

/** What is asked for the network and for accounts when an order is quoted. */
export interface Quoted {
  readonly rate: number;
  readonly asset: "tokens" | "SOL";
  readonly chunks: number;
  readonly isSwap?: boolean;
}

/** The network's part: a fee a chunk and one for the rest, a marker a chunk; the rent of its own account pays one of tokens. */
export function networkOf({ rate, asset, chunks, isSwap = false }: Quoted): number {
  const markers = asset === "tokens" ? chunks - 1 : chunks;
  return (chunks + 1) * FEE + (isSwap ? SIGNATURE : 0) + markers * rentOf(rate, 0);
}

/** What became of an order before its rest. */
export type Decided =
  | { readonly decision: "refused" }
  /** The lengths of all its markers. */
  | { readonly decision: "go"; readonly lengths: readonly number[] };

/** A rest that is to be made. */
export interface RestToMake {
  /** What a byte costs now, and what it cost when the order was taken. */
  readonly rate: number;
  readonly orderRate?: number;
  readonly asset: "tokens" | "SOL";
  /** null: an earlier rest has borne it. */
  readonly decided: Decided | null;
  readonly makesSendersAccount?: boolean;
  /** The lamports of the order's own account if this rest closes it. */
  readonly closes?: number;
}

/** What no quote has paid: it is charged once, to the next rest, with that rest's fee if no quote has paid that. */
export function unquotedOf({ rate, asset, decided }: Pick<RestToMake, "rate" | "asset" | "decided">): number {
  if (decided === null) return FEE;
  if (decided.decision === "refused") return rentOf(rate, 1) + FEE + FEE;
  const longer = decided.lengths.reduce((sum, length) => sum + rentOf(rate, length) - rentOf(rate, 0), 0);
  return longer + (asset === "tokens" ? rentOf(rate, 0) : 0);
}

/** What a closing account gives the sponsor: its rent at the order's rate, and never more than lies on it. */
export function toSponsorOf(orderRate: number, lamports: number): number {
  return Math.max(0, Math.min(rentOf(orderRate, TOKEN_ACCOUNT_BYTES), lamports));
}

/** What is withheld of a rest. */
export function refundCostOf(rest: RestToMake): number {
  const makes = rest.makesSendersAccount === true ? rentOf(rest.rate, TOKEN_ACCOUNT_BYTES) : 0;
  const credit = rest.closes === undefined ? 0 : toSponsorOf(rest.orderRate ?? rest.rate, rest.closes);
  return Math.max(0, unquotedOf(rest) + makes - credit);
}

/** What the sponsor keeps ready for an order: markers as long as they may be, its loan or account, three attempts each. */
export function reservedOf({ rate, asset, chunks }: Quoted): number {
  const own = asset === "tokens" ? rentOf(rate, TOKEN_ACCOUNT_BYTES) : 2 * rentOf(rate, 0);
  return chunks * rentOf(rate, 128) + own + 3 * FEE * (chunks + 1);
}
