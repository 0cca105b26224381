/** Who has paid in: shown once an order has got what it waited for. Nothing waits for it or goes by it. */
import { commitOne } from "../../../storage/decided.ts";
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Inflow } from "../../ledger/routing.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import type { ServiceContext } from "../service-context.ts";
import type { EntryRecord } from "../tables/deposits.ts";

/** An order that was funded longer ago is asked about no more: after a start every address seems to have news. */
const FRESH_MS = 10 * 60_000;

export type DepositPayerParts = Pick<ServiceContext, "storage" | "ledger" | "assets" | "clock">;

/** Whether nothing is left to be asked: each payer is known, or the order is not funded. Throws `LedgerUnavailable`. */
export async function findPayers(
  { storage, ledger, assets, clock }: DepositPayerParts,
  address: Address,
  entries: readonly EntryRecord[],
): Promise<boolean> {
  const [deposit] = await storage.deposits([address]);
  const endedAt = deposit?.waitEndedAt ?? null;
  if (deposit === undefined || endedAt === null || clock.now() - endedAt > FRESH_MS) return true;
  const came = entries.filter(({ kind, at }) => kind === "deposit" && at <= endedAt);
  const sum = came.reduce((total, { mint, amount }) => (mint === deposit.mint ? total + amount : total), 0n);
  const unknown = came.filter(({ payer, mint }) => payer === null && assets.ofMint(mint) !== null);
  if (sum < deposit.amount || unknown.length === 0) return true;
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  // The newest hundred of each account are enough: who floods an address hides a payer, and costs no more than that.
  const { inflows } = await ledger.payersOf(address, mints, { accounts: [], isExplained: () => true });
  const writes = unknown.flatMap(({ id, mint, amount }): PaymentWrite[] => {
    const alike = came.filter((other) => other.mint === mint && other.amount === amount);
    const payer = payerOf(alike, inflows, assets);
    return payer === null ? [] : [{ table: "entries", id, set: { payer } }];
  });
  if (writes.length > 0) await commitOne(storage, { writes });
  return writes.length === unknown.length;
}

/**
 * The payer of deposits of one mint and amount. Null unless the chain shows as many transactions of that amount, and one wallet
 * gave the whole amount in each: two transactions between two looks may have brought a deposit together.
 */
function payerOf(
  alike: readonly EntryRecord[],
  inflows: Evidence<readonly Inflow[]>,
  assets: Assets,
): Address | null {
  const [first] = alike;
  if (first === undefined) return null;
  const mint = ledgerMint(assets.named(first.mint));
  const brought = inflows.filter((inflow) => inflow.mint === mint && inflow.amount === first.amount);
  const [payer = null, another] = new Set(brought.map(givenBy));
  return brought.length === alike.length && another === undefined ? payer : null;
}

/** The wallet that gave the whole inflow; null if another wallet, or a program, may have given a part. */
function givenBy({ from, amount, unattributed }: Inflow): Address | null {
  const [giver, another] = from;
  const isWhole = unattributed === 0n && another === undefined && giver?.amount === amount;
  return isWhole ? giver.payer : null;
}
