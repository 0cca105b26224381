/** The invariants I9 and I14 at deposit addresses that have come to rest: nothing twice, and every base unit explained. */
import type { EntryRecord } from "../../src/payments/tables/deposits.ts";
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { type Address, SOL_MINT } from "../../src/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";

/** Where the money is looked for. */
export interface MoneyAtRest {
  readonly storage: Pick<PaymentStorage, "deposits" | "transaction" | "entries">;
  readonly ledger: Ledger;
  readonly mints: readonly Address[];
}

/** One sentence per broken invariant, each beginning with its number; empty when all hold. */
export async function brokenMoney(
  { storage, ledger, mints }: MoneyAtRest,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const broken: string[] = [];
  const deposits = await storage.deposits(addresses);
  for (const { id, transactionId } of deposits) {
    const entries = await storage.entries(id);
    const { funds } = await ledger.funds([id], mints, "finalized");
    const held = [
      [SOL_MINT, funds[0]?.lamports ?? 0n],
      ...mints.map((mint, index) => [mint, funds[0]?.tokens[index] ?? 0n] as const),
    ] as const;
    for (const [mint, there] of held) {
      const onRecord = sumOf(entries.filter((entry) => entry.mint === mint));
      if (onRecord !== there) {
        broken.push(`I14: ${id} has ${onRecord} of ${mint} on record and holds ${there}`);
      }
    }

    const { transactions } = await ledger.signedBy(id);
    const landed: readonly string[] = transactions
      .filter(({ error }) => error === null)
      .map(({ signature }) => signature);
    const payments = (await storage.transaction(transactionId))?.payments ?? [];
    const finished = payments.filter(({ status }) => status === "finalized");
    const final = finished.map(({ signature }) => signature);
    for (const signature of landed) {
      if (final.filter((each) => each === signature).length !== 1) {
        broken.push(`I9: ${signature} of ${id} landed and is not one payment's end`);
      }
    }
    // A collection moves money within its address. It is over as well when its bytes are dead: the next look plans another.
    const moving = finished.filter(({ kind }) => kind !== "collect");
    for (const { signature } of moving) {
      if (!landed.includes(signature ?? "")) broken.push(`I9: ${String(signature)} of ${id} has not landed`);
    }
    const indexes = payments
      .filter(({ kind, status }) => kind === "payout" && status === "finalized")
      .flatMap(({ plan }) => (JSON.parse(plan) as { readonly indexes: readonly number[] }).indexes);
    if (new Set(indexes).size !== indexes.length) {
      broken.push(`I9: a recipient of ${transactionId} was paid twice`);
    }
  }
  return broken;
}

const COMES_IN: ReadonlySet<EntryRecord["kind"]> = new Set(["deposit", "loan"]);

function sumOf(entries: readonly EntryRecord[]): bigint {
  return entries.reduce((sum, { kind, amount }) => (COMES_IN.has(kind) ? sum + amount : sum - amount), 0n);
}
