/**
 * The books of an order: asset by asset, what came = what recipients were paid + the fee + what goes back with its cost + the
 * rest. The sum of the rest closes the books, whatever the rows say; the rows say why it is left.
 */
import { SOL_MINT } from "../../core/address.ts";
import type { AttemptLeg, AttemptRecord } from "../frame/tables/attempts.ts";
import { smallestAmount } from "../frame/assets/assets.ts";
import { WRAPPED_SOL } from "../frame/assets/shown-amount.ts";
import type { RefundSum } from "../frame/transactions/transaction-mode.ts";
import { isFinalStatus, type RecipientRecord, type TransactionRecord } from "../frame/tables/orders.ts";
import type { DepositRecord, LevelRecord, OrderView, TransferRecord } from "./tables.ts";
import { larger, smaller } from "./protocol/cost.ts";
import { shapeOf } from "./protocol/cut.ts";
import { isPaid, outcomeOf } from "./protocol/outcome.ts";
import type { Outcome } from "./protocol/terms.ts";

/** Rows of an order, with the attempts of its transfers, those of each oldest first. */
export interface BookRows extends OrderView {
  readonly transaction: Pick<TransactionRecord, "type" | "status" | "reason">;
  readonly recipients: readonly Pick<RecipientRecord, "status" | "amount">[];
  readonly attempts: readonly AttemptRecord[];
  /** Mints of the service's assets. */
  readonly assets: readonly string[];
}

/** Base units of a mint, or of `WRAPPED_SOL`. */
interface Sum {
  readonly mint: string;
  readonly amount: bigint;
}

/** A deposit in one transaction; or all that no listed transaction brought. */
export interface ReceivedSum extends Sum, Pick<DepositRecord, "decimals" | "payer" | "signature"> {
  /** Whether it counts towards what was asked for. */
  readonly isCounted: boolean;
}

/**
 * `under_way` goes on by itself, `held` waits for a person, `dust` is not worth a transaction; `account` has made token
 * accounts of recipients, `missing` has left otherwise.
 */
const REASONS = ["under_way", "held", "dust", "account", "missing"] as const;

/** Money that is neither paid nor sent back, with its reason. */
export interface UnreturnedSum extends Sum {
  readonly reason: (typeof REASONS)[number];
}

export interface OrderBooks {
  readonly received: readonly ReceivedSum[];
  readonly refunds: readonly RefundSum[];
  readonly unreturned: readonly UnreturnedSum[];
  /** Base units of the order's asset: what went out for the recipients who are paid. */
  readonly paid: bigint;
  /** The same of the fee; null while it may still be taken. */
  readonly fee: bigint | null;
}

export function booksOf(rows: BookRows): OrderBooks {
  const { order, transfers, assets } = rows;
  const [paid, fee] = [paidOut(rows), feeTaken(rows)];
  const moved = transfers.flatMap((transfer) => movedBy(rows, transfer));
  const landed = moved.filter(({ status }) => status === "paid");
  const taken: Sum[] = [{ mint: order.mint, amount: paid + (fee ?? 0n) }, ...landed.map(takenBy)];
  const received = receivedOf(rows, taken);
  const left = (mint: string): bigint => sumOf(received, mint) - sumOf(taken, mint);
  const shown = new Set<RefundSum>(landed);
  // Bytes that never landed may name what has left meanwhile otherwise.
  for (const open of moved) {
    const isThere = !assets.includes(open.mint) || left(open.mint) >= takenBy(open).amount;
    if (shown.has(open) || open.amount === 0n || !isThere) continue;
    shown.add(open);
    taken.push(takenBy(open));
  }
  // A sum that could not be returned goes to the sponsor beside another one: it is dust, and no refund.
  const sunk = landed.filter(({ amount }) => amount === 0n).map(takenBy);
  return {
    received,
    refunds: moved.filter((refund) => shown.has(refund) && refund.amount > 0n),
    unreturned: assets.flatMap((mint) => {
      return leftOf(rows, mint, { left: left(mint), sunk: sumOf(sunk, mint) });
    }),
    paid,
    fee,
  };
}

/** A swap gives away all that was asked for but the fee. */
function paidOut({ transaction, order, recipients }: BookRows): bigint {
  const paid = recipients.filter(({ status }) => status === "paid");
  if (transaction.type === "swap") return paid.length === 0 ? 0n : order.required - order.fee;
  return paid.reduce((sum, { amount }) => sum + amount, 0n);
}

/** By the marker of chunk 0, or by what its own transactions have paid. */
function feeTaken(rows: BookRows): bigint | null {
  const { order, chunks, transaction } = rows;
  const outcome = goOf(rows);
  if (outcome === null) return isFinalStatus(transaction.status) && order.overState !== "paying" ? 0n : null;
  const told = chunks.find(({ k }) => k === 0)?.paid;
  return (told?.includes(0) ?? isPaid(outcome, 0)) ? order.fee : 0n;
}

/** The outcome by which the marker of chunk 0 decides; null without a marker, and for a length that is no outcome. */
function goOf({ order, chunks }: Pick<OrderView, "order" | "chunks">): Outcome | null {
  const length = chunks.find(({ k }) => k === 0)?.length ?? null;
  return length === null ? null : outcomeOf(shapeOf(order, 0), length);
}

/** Whether the order is refused as a whole, for good. */
export function isRefused(view: Pick<OrderView, "order" | "chunks">): boolean {
  return goOf(view)?.kind === "nobody";
}

const BACK: ReadonlySet<TransferRecord["kind"]> = new Set(["rest", "redirect", "foreign"]);
const GIVEN: ReadonlySet<AttemptLeg["as"]> = new Set(["sender", "payee"]);
const COST: ReadonlySet<AttemptLeg["as"]> = new Set(["cost"]);

/** Whether a leg of a transfer that pays no recipient gives something back. */
export function isGivenBack({ as, amount }: Pick<AttemptLeg, "as" | "amount">): boolean {
  return GIVEN.has(as) && amount > 0n;
}

/** By mint what a transfer gives back and withholds: of each attempt that landed, else of the newest. Nothing of other kinds. */
function movedBy(rows: BookRows, transfer: TransferRecord): readonly RefundSum[] {
  const { id, kind, state, signature, alsoLanded, legs } = transfer;
  if (!BACK.has(kind)) return [];
  if (legs !== null) return refundsOf(rows, transfer, { legs, signature, status: "paid" });
  const own = rows.attempts.filter((each) => each.transfer === id);
  const landed = own.filter((each) => each.id === signature || alsoLanded.includes(each.id));
  if (landed.length > 0 || state === "done" || state === "ended") {
    return landed.flatMap((each) =>
      refundsOf(rows, transfer, { legs: each.legs ?? [], signature: each.id, status: "paid" }),
    );
  }
  const newest = own.at(-1);
  const status = isHeld(rows) ? "held" : "pending";
  const shown = state === "planned" ? null : (newest?.id ?? signature);
  return refundsOf(rows, transfer, { legs: newest?.legs ?? [], signature: shown, status });
}

/** Sums by mint of the legs of one transaction. */
function refundsOf(
  rows: BookRows,
  { kind, mint: foreign }: TransferRecord,
  {
    legs,
    signature,
    status,
  }: Pick<RefundSum, "signature" | "status"> & { readonly legs: readonly AttemptLeg[] },
): readonly RefundSum[] {
  const nameOf = (mint: string): string => (kind === "foreign" && mint === SOL_MINT ? WRAPPED_SOL : mint);
  return [...new Set(legs.map(({ mint }) => mint))].flatMap((mint): readonly RefundSum[] => {
    const of = (as: ReadonlySet<AttemptLeg["as"]>): readonly AttemptLeg[] =>
      legs.filter((leg) => leg.mint === mint && as.has(leg.as));
    const [amount, cost] = [total(of(GIVEN)), total(of(COST))];
    if (amount + cost === 0n) return [];
    return [
      {
        mint: nameOf(mint),
        amount,
        cost,
        decimals: mint === foreign ? decimalsOf(rows, mint) : null,
        to: of(GIVEN)[0]?.to ?? rows.order.sender,
        signature,
        status,
      },
    ];
  });
}

function decimalsOf({ deposits }: BookRows, mint: string): number | null {
  return deposits.find((deposit) => deposit.mint === mint)?.decimals ?? null;
}

/**
 * First the listed deposits, then the sums that levels add, by asset. Money that left has come in, also without a list or a
 * level.
 */
function receivedOf(rows: BookRows, spent: readonly Sum[]): readonly ReceivedSum[] {
  const { levels, assets } = rows;
  const deposits = rows.deposits.toSorted((a, b) => a.at - b.at || (a.slot ?? 0) - (b.slot ?? 0));
  const counting = new Counting(rows);
  const named = deposits.map((deposit): ReceivedSum => {
    const { amount, decimals, payer, signature } = deposit;
    const isCounted = deposit.account === null && counting.counts(deposit, deposit.at);
    return { mint: nameOfDeposit(deposit), amount, decimals, payer, signature, isCounted };
  });
  // Collected money has reached the address itself, and is in its level.
  const inside = named.filter((_, index) => {
    const deposit = deposits[index];
    return deposit !== undefined && (deposit.account === null || isEmptiedByUs(rows, deposit));
  });
  const unnamed = assets.flatMap((mint): readonly ReceivedSum[] => {
    const level = levels.find((each) => each.mint === mint)?.received ?? 0n;
    const out = sumOf(spent, mint);
    const amount = (level > out ? level : out) - sumOf(inside, mint);
    if (amount <= 0n) return [];
    const isCounted = counting.counts({ mint, amount }, null);
    return [{ mint, amount, decimals: null, payer: null, signature: null, isCounted }];
  });
  return [...named, ...unnamed];
}

/** Whether a transfer of ours has taken what did not count: both are written in one commit. Other departures are theft. */
export function isEmptiedByUs(
  { transfers }: Pick<OrderView, "transfers">,
  { account, leftAt }: Pick<DepositRecord, "account" | "leftAt">,
): boolean {
  return transfers.some(
    ({ subjects, landedAt }) => leftAt !== null && landedAt === leftAt && subjects.includes(account ?? ""),
  );
}

/** Tells which deposits count towards what was asked for, oldest first: until it is whole, and no longer than it is waited for. */
class Counting {
  readonly #rows: BookRows;
  #sum = 0n;

  constructor(rows: BookRows) {
    this.#rows = rows;
  }

  /** `at` is null if it is not known when it came. */
  counts({ mint, amount }: Sum, at: number | null): boolean {
    const { order, transaction } = this.#rows;
    const { status, reason } = transaction;
    if (mint !== order.mint || status === "cancelled" || reason === "DEPOSIT_TIMEOUT") return false;
    // The missing part came after the window.
    const isLate =
      reason === "INCOMPLETE_DEPOSIT" &&
      (this.#sum + amount >= order.required || (at !== null && at > (order.waitEndedAt ?? at)));
    if (isLate || this.#sum >= order.required) return false;
    this.#sum += amount;
    return true;
  }
}

/** Collected money is not wrapped any more. */
function nameOfDeposit({ mint, account, leftAt }: DepositRecord): string {
  return mint === SOL_MINT && account !== null && leftAt === null ? WRAPPED_SOL : mint;
}

/** Base units that are neither paid nor sent back, and that went to the sponsor since they were worth no transaction. */
interface Rest {
  readonly left: bigint;
  readonly sunk: bigint;
}

function leftOf(rows: BookRows, mint: string, { left, sunk }: Rest): readonly UnreturnedSum[] {
  const level = rows.levels.find((each) => each.mint === mint);
  const lost = level === undefined ? 0n : lostOf(level);
  const missing = smaller(lost, left);
  const account = smaller(mint === SOL_MINT ? openedBy(rows) : 0n, left - missing);
  const reason = isHeld(rows) ? "held" : isAtRest(rows) ? "dust" : "under_way";
  // Money in an account that does not count goes back once a person collects it.
  const beside = larger(0n, smaller(uncollectedOf(rows, mint), left - missing - account));
  const amounts = { dust: sunk, account, missing, held: beside, under_way: 0n };
  amounts[reason] += left - missing - account - beside;
  return REASONS.map((each) => ({ mint, amount: amounts[each], reason: each })).filter(
    ({ amount }) => amount > 0n,
  );
}

/** Base units in token accounts that do not count, which a matter tells of and no transfer of ours is about to take. */
function uncollectedOf({ deposits, transfers }: BookRows, mint: string): bigint {
  const open = transfers.filter(({ kind, state }) => {
    return kind === "collect" && (state === "planned" || state === "out");
  });
  const taken = new Set(open.flatMap(({ subjects }) => subjects));
  return total(
    deposits.filter((deposit) => {
      const { account, leftAt, amount, decimals } = deposit;
      const isThere = account !== null && leftAt === null && !taken.has(account);
      const isTold = decimals === null || amount >= smallestAmount({ decimals });
      return isThere && isTold && nameOfDeposit(deposit) === mint;
    }),
  );
}

/** Lamports that chunks took for accounts of their recipients. */
function openedBy({ chunks }: BookRows): bigint {
  return chunks.reduce((sum, { opened }) => sum + opened, 0n);
}

/** The missing sum of the matter, and the sum that a person has written off. */
function lostOf({ missing, writtenOff }: LevelRecord): bigint {
  return missing + writtenOff;
}

function isHeld({ holds }: Pick<OrderView, "holds">): boolean {
  return holds.some(({ endedAt }) => endedAt === null);
}

/** Whether nothing goes on by itself: the marker of an order that has ended without one is planned until more comes. */
function isAtRest({ order, transfers }: BookRows): boolean {
  const isOpen = transfers.some(
    ({ kind, state }) => state === "out" || (state === "planned" && kind !== "chunk"),
  );
  return order.state === "over" && order.overState === "idle" && !isOpen;
}

function takenBy({ mint, amount, cost }: RefundSum): Sum {
  return { mint, amount: amount + cost };
}

function sumOf(sums: readonly Sum[], mint: string): bigint {
  return total(sums.filter((each) => each.mint === mint));
}

function total(sums: readonly { readonly amount: bigint }[]): bigint {
  return sums.reduce((sum, { amount }) => sum + amount, 0n);
}
