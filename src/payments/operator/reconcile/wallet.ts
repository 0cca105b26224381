/** Compares every wallet transaction that is over with the chain: tells whether its status agrees with the chain. */
import type { Attempt, Ledger } from "../../../ledger/ledger.ts";
import type { FrameStorage } from "../../frame/frame-storage.ts";
import type { TransactionRecord } from "../../frame/tables/orders.ts";
import { attemptOf } from "../../frame/signed/stored-attempt.ts";
import type { TellProgress } from "../../frame/reconcile-progress.ts";

/** A transaction whose row says something else than the chain. */
export interface WalletFinding {
  readonly transactionId: string;
  readonly status: string;
  readonly signature: string;
  /**
   * The present answer of the nodes. `landed`: the transaction was carried out, although its status denies a landing.
   * `landed_with_error`: the transaction failed on the chain, although its status is completed. `never_landed`: the
   * transaction can never land, although its status is completed.
   */
  readonly onChain: "landed" | "landed_with_error" | "never_landed";
}

/** The result for transactions that callers have signed. */
export interface WalletReconciliation {
  /** Transactions that are over, and were checked. */
  readonly transactions: number;
  /**
   * Completed transactions so old that the nodes no longer have their history, and can neither confirm nor contradict
   * the status.
   */
  readonly unproven: number;
  readonly findings: readonly WalletFinding[];
}

interface WalletReconciliationParts {
  readonly storage: Pick<FrameStorage, "transactionsAfter" | "attempts">;
  readonly ledger: Pick<Ledger, "landings" | "look">;
  readonly tell: TellProgress;
}

const PAGE = 100;
const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** Changes nothing. Rejects with `LedgerUnavailable` when the chain cannot be read to the end. */
export async function reconcileWallet({
  storage,
  ledger,
  tell,
}: WalletReconciliationParts): Promise<WalletReconciliation> {
  const findings: WalletFinding[] = [];
  let [transactions, unproven] = [0, 0];
  for (let after = ""; ;) {
    const page = await storage.transactionsAfter(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return { transactions, unproven, findings };
    after = last.id;
    const over = page.filter(({ mode, status }) => mode === "wallet" && OVER.has(status));
    const told = await examine({ storage, ledger }, over);
    transactions += over.length;
    tell({ transactions });
    unproven += told.filter((each) => each === "unproven").length;
    findings.push(...told.filter((each) => typeof each === "object"));
  }
}

/** A single question for all landings, and a look at each expected landing. */
async function examine(
  { storage, ledger }: Omit<WalletReconciliationParts, "tell">,
  transactions: readonly TransactionRecord[],
): Promise<readonly (WalletFinding | "unproven" | "as_shown")[]> {
  const rows = new Map(transactions.map((each) => [each.signature, each]));
  const attempts = (await storage.attempts([...rows.keys()].filter((each) => each !== null))).map(attemptOf);
  if (attempts.length === 0) return [];
  const landings = await ledger.landings(attempts);
  const absent = attempts.filter(
    ({ signature }, index) =>
      (landings[index] ?? null) === null && rows.get(signature)?.status === "completed",
  );
  const looks = absent.length === 0 ? [] : await ledger.look(absent);
  return attempts.map((attempt, index) => {
    const transaction = rows.get(attempt.signature);
    const landing = landings[index] ?? null;
    if (transaction === undefined) return "as_shown";
    if (landing !== null) return judge(transaction, attempt, landing.error === null);
    if (transaction.status !== "completed") return "as_shown";
    return looks[absent.indexOf(attempt)]?.death === "dead"
      ? finding(transaction, attempt, "never_landed")
      : "unproven";
  });
}

function judge(
  transaction: TransactionRecord,
  attempt: Attempt,
  hasSucceeded: boolean,
): WalletFinding | "as_shown" {
  const { status, landedAfterCancel } = transaction;
  const isShown = status === "completed" || landedAfterCancel;
  if (hasSucceeded) return isShown ? "as_shown" : finding(transaction, attempt, "landed");
  return status === "completed" ? finding(transaction, attempt, "landed_with_error") : "as_shown";
}

function finding(
  { id, status }: TransactionRecord,
  { signature }: Attempt,
  onChain: WalletFinding["onChain"],
): WalletFinding {
  return { transactionId: id, status, signature, onChain };
}
