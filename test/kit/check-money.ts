/** The invariants I9 and I14 of orders of private mode: nobody is paid twice, and every base unit is explained. */
// modules: private
import type { PaymentStorage } from "../../src/payments/payment-storage.ts";
import { takenOut, shapeOf } from "../../src/payments/private/protocol/cut.ts";
import { outcomeOf } from "../../src/payments/private/protocol/outcome.ts";
import { storedOrderIn, type StoredOrder } from "../../src/payments/private/look.ts";
import { accountRent, uncovered } from "../../src/payments/private/protocol/cost.ts";
import { queryOf } from "../../src/payments/private/protocol/look.ts";
import { type Address, SOL_MINT } from "../../src/core/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";

/** Where the money is looked for. */
export interface MoneyAtRest {
  readonly storage: Pick<PaymentStorage, "orderAt" | "orderedTransactions" | "attemptsOfAny">;
  readonly ledger: Ledger;
  readonly mints: readonly Address[];
}

/** One sentence per broken invariant, each beginning with its number; empty when all hold. */
export async function brokenMoney(
  { storage, ledger, mints }: MoneyAtRest,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const broken: string[] = [];
  const rows = await Promise.all(addresses.map((address) => storage.orderAt(address as Address)));
  for (const view of await storage.orderedTransactions(rows.flatMap((row) => row?.id ?? []))) {
    const order = storedOrderIn(view);
    if (order === null) continue;
    const { address } = order.terms;
    const { funds } = await ledger.funds([address], mints, "finalized");
    const lamports = (funds[0]?.lamports ?? 0n) + (await aboveRent(order, ledger, mints));
    const held = [lamports, ...mints.map((_, index) => funds[0]?.tokens[index] ?? 0n)];
    [SOL_MINT, ...mints].forEach((mint, index) => {
      const onRecord = leftOf(order, mint);
      const there = held[index] ?? 0n;
      if (onRecord !== there) {
        broken.push(`I14: ${address} has ${onRecord} of ${mint} on record and holds ${there}`);
      }
    });
    const { transfers } = order.view;
    const known = new Set((await storage.attemptsOfAny(transfers.map(({ id }) => id))).map(({ id }) => id));
    const { transactions } = await ledger.signedBy(address);
    for (const { signature, error } of transactions) {
      if (error === null && !known.has(signature)) {
        broken.push(`I9: ${signature} of ${address} is no attempt`);
      }
    }
  }
  return broken;
}

/** Lamports of the order's token accounts above the rent that it was taken with: they are its money, too. */
async function aboveRent(
  { terms }: StoredOrder,
  ledger: Pick<Ledger, "readOrder">,
  mints: readonly Address[],
): Promise<bigint> {
  const { told } = await ledger.readOrder(queryOf(terms, { mints, redirects: 0, others: [] }), "finalized");
  const rent = accountRent(terms.rentPerByte);
  const accounts = told[0]?.order.accounts.filter((each) => each !== null && each.state !== "foreign") ?? [];
  return accounts.reduce((sum, each) => sum + uncovered(each?.lamports ?? 0n, rent), 0n);
}

/** What is there by the rows: what came, less what markers and booked transfers took, and what is told to be missing. */
function leftOf({ view, terms }: StoredOrder, mint: string): bigint {
  const level = view.levels.find((each) => each.mint === mint);
  if (level === undefined) return 0n;
  const taken = view.chunks.reduce((sum, { k, length, opened }) => {
    const outcome = length === null || mint !== terms.mint ? null : outcomeOf(shapeOf(terms, k), length);
    const inAccounts = mint === SOL_MINT ? opened : 0n;
    return sum + inAccounts + (outcome === null ? 0n : takenOut(terms, k, outcome));
  }, 0n);
  return level.received - taken - level.out - level.writtenOff - level.missing;
}
