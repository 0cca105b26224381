/** Sends tokens of a foreign mint out of a deposit address: reads the balance there, and plans the transfer. */
import type { DepositRecord } from "../../tables/deposits.ts";
import type { PaymentRecord } from "../../tables/payments.ts";
import type { Address } from "../../../address.ts";
import type { Holding, Ledger } from "../../../ledger/ledger.ts";
import type { TransactionFault } from "../../../ledger/routing.ts";
import type { DepositKeys } from "../../secrets/deposit-keys.ts";
import { KeptAccountList } from "./kept-accounts.ts";
import { undisputed } from "./order-markers.ts";
import { nameOfMint } from "./other-mints.ts";
import { markOf } from "./routing-terms.ts";
import { withSeeds, type StoredMove, type StoredPlan } from "./stored-plan.ts";

/** Accounts emptied and closed in one transaction: so many fit with their markers. */
const MAX_ACCOUNTS = 4;

/** A planned return, as one payment. */
interface PlannedReturn {
  readonly mark: string;
  /** Raw units that the return moves, and raw units that the address holds in total, without markers. */
  readonly amount: bigint;
  readonly held: bigint;
  readonly decimals: number;
  readonly plan: StoredPlan;
  readonly slot: number;
}

/** The result of a search: a plan, nothing to send, or the fault in the way. */
type ReturnFound = PlannedReturn | "nothing" | TransactionFault;

/** A token account of the address; the associated one has no `fromAccount`. */
interface Source {
  readonly fromAccount?: Address;
  /** Raw units taken out of the account; `isEmptied` tells whether nothing stays behind. */
  readonly amount: bigint;
  readonly isEmptied: boolean;
}

const MARK = "return ";

/** Whether an operator ordered the payment, which only an operator would order again. */
export function isReturn({ mark }: Pick<PaymentRecord, "mark">): boolean {
  return mark.startsWith(MARK);
}

/** Dependencies of looking for a return. */
interface Returning {
  readonly ledger: Ledger;
  readonly keys: DepositKeys;
  readonly sponsor: Address;
}

/** The wanted return: mint, address and receiver. */
interface SoughtReturn {
  readonly deposit: DepositRecord;
  readonly payments: readonly PaymentRecord[];
  readonly mint: Address;
  readonly to: Address;
  /** Raw units: what came after an operator has named the amount stays. Left out, all goes. */
  readonly atMost?: bigint;
}

/**
 * Reads what the address holds of the mint, but for accounts that the rules of markers keep, and tries the transaction that sends it on. Emptied accounts are closed with it,
 * their rent going to the sponsor, who pays for the receiver's account; where an account cannot be closed (Token-2022 keeps
 * one open that withholds transfer fees) it stays. The sponsor runs no program of a mint's own: nothing of such a mint moves.
 */
export async function findReturn(
  { ledger, keys, sponsor }: Returning,
  { deposit, payments, mint, to, atMost }: SoughtReturn,
): Promise<ReturnFound> {
  const address = deposit.id;
  const { holdings, slot } = await ledger.balances(address);
  const holding = holdings.find((each) => each.mint === mint);
  if (holding === undefined) return "nothing";
  const beside = await ledger.strayAccounts(address, [mint], "confirmed");
  const kept = new KeptAccountList({ ledger, keys }, { deposit, payments });
  const strays = beside.accounts
    .filter(({ address: account }) => !kept.keeps({ account, mint }))
    .map(({ address: fromAccount, amount }) => ({ fromAccount, amount, isEmptied: true }));
  const rest = holding.amount - sumOf(beside.accounts);
  const associated = rest > 0n ? [{ amount: rest, isEmptied: true }] : [];
  const held = sumOf([...associated, ...strays]);
  if (held === 0n) return "nothing";

  const mark = await freeMark({ ledger, keys }, { deposit, payments });
  const terms = { address, sponsor, rentMinimum: 0n };
  let fault: TransactionFault | null = null;
  for (const way of waysToTake(associated, strays)) {
    const sources = noMoreThan(atMost ?? held, way);
    for (const isClosing of [true, false]) {
      const moves = returnMoves(holding, { address, sponsor, to }, { sources, isClosing });
      const amount = sumOf(sources);
      const plan: StoredPlan = {
        feePayer: sponsor,
        moves: [markOf(terms, mark), ...moves],
        movements: [{ kind: "refund", mint: nameOfMint(mint), amount: String(amount) }],
        indexes: [],
        withheld: "0",
      };
      const tried = withSeeds(plan, (words) => keys.seed(deposit, words));
      fault = await ledger.tryTransaction(tried, await ledger.buildTransaction(tried));
      if (fault === null) {
        return { mark, amount, held, decimals: holding.decimals, plan, slot: Math.min(slot, beside.slot) };
      }
      // Another choice of accounts changes nothing about these.
      if (PASSING.has(fault.kind)) return fault;
    }
  }
  return fault ?? "nothing";
}

const MARKS_AT_ONCE = 8;

/**
 * The first words that no marker stands under: another copy of the database may have made some that this one does not know, and
 * the chain would refuse them for as long as their markers stand.
 */
async function freeMark(
  { ledger, keys }: Pick<Returning, "ledger" | "keys">,
  { deposit, payments }: Pick<SoughtReturn, "deposit" | "payments">,
): Promise<string> {
  for (let first = payments.filter(({ kind }) => kind === "refund").length + 1; ; first += MARKS_AT_ONCE) {
    const marks = Array.from({ length: MARKS_AT_ONCE }, (_, index) => `${MARK}${first + index}`);
    const seeds = marks.map((words) => keys.seed(deposit, words));
    const { markers } = undisputed(deposit.id, await ledger.markers(deposit.id, seeds));
    const free = marks.find((_, index) => markers[index] === "unmade");
    if (free !== undefined) return free;
  }
}

const PASSING: ReadonlySet<TransactionFault["kind"]> = new Set([
  "fee_payer",
  "blockhash",
  "already_processed",
]);

/** All accounts if possible, else the accounts that can move: an issuer may have frozen only some. */
function waysToTake(
  associated: readonly Source[],
  strays: readonly Source[],
): readonly (readonly Source[])[] {
  const all = [...associated, ...strays].slice(0, MAX_ACCOUNTS);
  if (associated.length === 0 || strays.length === 0) return [all];
  return [all, strays.slice(0, MAX_ACCOUNTS), associated];
}

/** The first of these accounts, as far as the units go: of the last one a part may stay. */
function noMoreThan(units: bigint, way: readonly Source[]): readonly Source[] {
  let left = units;
  return way.flatMap((source) => {
    const amount = source.amount < left ? source.amount : left;
    left -= amount;
    return amount === 0n ? [] : [{ ...source, amount, isEmptied: amount === source.amount }];
  });
}

function sumOf(sources: readonly { readonly amount: bigint }[]): bigint {
  return sources.reduce((sum, { amount }) => sum + amount, 0n);
}

function returnMoves(
  { mint, decimals, program }: Holding,
  { address, sponsor, to }: { readonly address: Address; readonly sponsor: Address; readonly to: Address },
  { sources, isClosing }: { readonly sources: readonly Source[]; readonly isClosing: boolean },
): readonly StoredMove[] {
  return sources.flatMap(({ fromAccount, amount, isEmptied }, index): StoredMove[] => {
    const transfer: StoredMove = {
      does: "transfer",
      mint,
      decimals,
      program,
      from: address,
      to,
      amount,
      ...(fromAccount === undefined ? {} : { fromAccount }),
      // Once made, the account is there for the other transfers.
      accountPayer: index === 0 ? sponsor : null,
    };
    const close: StoredMove = {
      does: "close",
      mint,
      program,
      owner: address,
      to: sponsor,
      ...(fromAccount === undefined ? {} : { account: fromAccount }),
    };
    return isClosing && isEmptied ? [transfer, close] : [transfer];
  });
}
