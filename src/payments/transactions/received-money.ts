/** The money received at a deposit address, and the missing rest. */
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { TransactionRecord } from "../tables/orders.ts";
import { formatAmount } from "../../amount.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import { paymentUri } from "../private/deposit-body.ts";

/** Money that came in, as the address's ledger has it. */
export interface ReceivedBody {
  /** Symbol; the mint of what is none of the service's assets. */
  readonly asset: string;
  /** SOL's is that of wrapped SOL. */
  readonly mint: string;
  /** The amount in whole units; for foreign tokens in raw units. */
  readonly amount: string;
  /** The transaction that brought it, where it has named the key of `paymentUri`; else null, since deposits are seen from balances. */
  readonly signature: string | null;
  /** Whether the money counts towards the deposit: the expected asset, in time. */
  readonly counted: boolean;
}

/** The shown money received. */
export interface ReceivedMoneyBody {
  readonly received: readonly ReceivedBody[];
  /** The missing rest, in whole units of the expected asset; "0" when nothing is missing. */
  readonly remainingAmount: string;
  /** A Solana Pay transfer request for the missing rest; null once nothing is waited for, and while the address is held. */
  readonly paymentUri: string | null;
}

/** An order and its deposit address. */
interface AwaitedDeposit {
  readonly transaction: TransactionRecord;
  readonly deposit: DepositRecord;
}

/** `entries` are the lines of the address's ledger, oldest first. */
export function receivedMoney(
  awaited: AwaitedDeposit,
  entries: readonly EntryRecord[],
  assets: Assets,
): ReceivedMoneyBody {
  const { transaction, deposit } = awaited;
  const asset = assets.named(deposit.mint);
  const deposits = entries.filter(({ kind }) => kind === "deposit");
  const counted = deposits
    .filter((entry) => counts(awaited, entry))
    .reduce((sum, { amount }) => sum + amount, 0n);
  const remaining = deposit.amount > counted ? deposit.amount - counted : 0n;
  const amount = formatAmount(remaining, asset.decimals);
  // An address stops waiting before its order hears of it, and what comes then goes back; of a held one nothing goes on.
  const isOpen = deposit.waitEndedAt === null && deposit.heldReason === null;
  const isWaiting = isOpen && transaction.status === "pending" && remaining > 0n;
  return {
    received: deposits.map((entry) => ({
      ...shownAmount(entry, assets),
      signature: entry.signature,
      counted: counts(awaited, entry),
    })),
    remainingAmount: amount,
    paymentUri: isWaiting
      ? paymentUri({
          recipient: deposit.id,
          amount,
          mint: ledgerMint(asset),
          referenceKey: deposit.referenceKey,
          label: transaction.reference ?? transaction.id,
        })
      : null,
  };
}

/**
 * Money for a cancelled order, or after its address had stopped waiting, goes back to the sender and does not count.
 */
function counts({ transaction, deposit }: AwaitedDeposit, entry: EntryRecord): boolean {
  const { mint, waitEndedAt } = deposit;
  const isInTime = waitEndedAt === null || entry.at <= waitEndedAt;
  return transaction.status !== "cancelled" && entry.mint === mint && isInTime;
}

/** The prefix that distinguishes wrapped SOL from SOL in the ledger of an address. */
const WRAPPED = /^wrapped /;

function shownAmount(
  { mint, amount }: EntryRecord,
  assets: Assets,
): Pick<ReceivedBody, "asset" | "mint" | "amount"> {
  const asset = assets.ofMint(mint);
  if (asset !== null) return { asset: asset.symbol, mint, amount: formatAmount(amount, asset.decimals) };
  return { asset: mint, mint: mint.replace(WRAPPED, ""), amount: formatAmount(amount, 0) };
}
