/** The marker's last word: whether a payment whose attempts are dead, or whose marker is taken, has been made after all. */
import type { PaymentEvent } from "../../../machines/index.ts";
import type { DepositRecord, PaymentRecord } from "../../../storage/records.ts";
import type { PaymentStorage } from "../../../storage/storage.ts";
import type { Address } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { DepositKeys } from "./deposit-keys.ts";
import type { StoredPlan } from "./stored-plan.ts";
import { unknownSpending } from "./unknown-spending.ts";

/** What the marker tells; `unknown`: a transaction that this database does not know made it, and nobody has explained it. */
export type FoundMark =
  Extract<PaymentEvent, { readonly type: "MARK_ABSENT" | "MARK_PAID" | "MARK_TAKEN" }> | "unknown";

/**
 * Looks at finalized blocks. Absent: nothing was paid. Made by a transaction that the address signed: that has paid. Made
 * by somebody else: nothing was paid, and never will be under these words. Throws while the nodes do not tell who made it.
 */
export async function findMark(
  {
    storage,
    ledger,
    keys,
  }: { readonly storage: PaymentStorage; readonly ledger: Ledger; readonly keys: DepositKeys },
  {
    row,
    deposit,
    stored,
  }: {
    readonly row: PaymentRecord;
    readonly deposit: DepositRecord;
    readonly stored: StoredPlan;
  },
): Promise<FoundMark> {
  const address = row.address as Address;
  const seedOf = (mark: string): string => keys.seed(deposit, mark);
  const lamportsOf = async (marks: readonly string[]): Promise<readonly bigint[]> => {
    const markers = marks.map((mark) => ledger.markerAddress(address, seedOf(mark)));
    const { funds } = await ledger.funds(markers, [], "finalized");
    return funds.map(({ lamports }) => lamports);
  };

  const paidBy = async (signature: string): Promise<FoundMark> => {
    const [receipt] = await ledger.receipts([signature]);
    if (receipt === null || receipt === undefined) {
      throw new Error(`the receipt of ${signature} cannot be read yet`);
    }
    const { slot, blockTime } = receipt;
    return { type: "MARK_PAID", signature, slot, blockTime };
  };

  if (row.kind === "sweep") {
    // A sweep makes no marker: it takes markers away, which nobody else can do.
    const taken = stored.moves.flatMap((move) => (move.does === "unmark" ? [move.mark] : []));
    const isGone = (await lamportsOf(taken)).every((lamports) => lamports === 0n);
    const [receipt] = isGone && row.signature !== null ? await ledger.receipts([row.signature]) : [];
    return receipt?.error === null ? paidBy(row.signature ?? "") : { type: "MARK_ABSENT" };
  }
  if ((await lamportsOf([row.mark]))[0] === 0n) return { type: "MARK_ABSENT" };
  const made = await ledger.markedBy(address, seedOf(row.mark));
  if (made === null) throw new Error(`nobody tells who made the marker of payment ${row.id}`);
  if (made === "foreign") return { type: "MARK_TAKEN" };
  const [attempt] = await storage.attempts([made.signature]);
  if (attempt !== undefined) return paidBy(made.signature);
  if ((await unknownSpending({ storage, ledger }, address)).includes(made.signature)) return "unknown";
  // Explained by an operator: it was another self of this database. The words say who was paid how much by a payout, but
  // not how much was refunded; that is found out by looking at what is left.
  return row.kind === "payout" || row.kind === "exchange" ? paidBy(made.signature) : { type: "MARK_TAKEN" };
}
