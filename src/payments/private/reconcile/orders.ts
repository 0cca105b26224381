/** Compares every order of private mode with the chain: each base unit that ever came in is explained, or is a finding. */
import { formatAmount } from "../../../core/amount.ts";
import type { Engine } from "../../../engine/index.ts";
import type { Assets } from "../../frame/assets/assets.ts";
import type { TellProgress } from "../../frame/reconcile-progress.ts";
import type { PrivateTables } from "../private-storage.ts";
import type { OrderWorkflow } from "../order-workflow.ts";
import { examineOrder, type ExaminationParts, type ExaminedOrder } from "./examine-order.ts";
import { areExplained, findingsOf, type AddressReport, type Finding } from "./findings.ts";
import { addTallies, EMPTY_TALLY, type AddressTally } from "./tally.ts";

/**
 * Sums over the addresses of all orders, for one asset. Decimal strings in whole units; see `AddressTally` for their
 * relations.
 */
export type AssetTally = { readonly asset: string } & { readonly [K in keyof AddressTally]: string };

/** The reconciliation of the addresses of all orders. */
export interface AddressReconciliation {
  /** How many addresses were looked at. */
  readonly addresses: number;
  readonly assets: readonly AssetTally[];
  /** Addresses with a finding, those that are explained and wait for an operator included. */
  readonly findings: readonly AddressReport[];
}

/** To examine orders, and to have those look again that are not as the chain is. */
export interface AddressReconciliationParts extends ExaminationParts {
  readonly engine: Pick<Engine<PrivateTables>, "send">;
  readonly orders: OrderWorkflow;
}

export function noAddresses(assets: Assets): AddressReconciliation {
  return bodyOf(assets, { addresses: 0, findings: [], sums: assets.tokens.map(() => EMPTY_TALLY) });
}

/** Whether each finding is explained, though it may wait for an operator. */
export function isExplained({ findings }: Pick<AddressReconciliation, "findings">): boolean {
  return findings.every(({ findings: found }) => areExplained(found));
}

const PAGE = 100;
/** An order takes several calls to the chain; the ledger itself keeps to the rate of its endpoints. */
const ORDERS_AT_ONCE = 8;
/** Payments go on meanwhile: what cannot be explained is looked at again before it is reported. */
const MAX_LOOKS = 3;

/**
 * Goes through all orders, a page at a time; what is under way is explained by what is at the address. New facts of an
 * order's history are stored, and an order that differs from the chain examines itself; nothing else is changed, so it may
 * run beside any number of services. Rejects with `LedgerUnavailable` when the chain cannot be read to the end.
 */
export async function reconcileAddresses(
  parts: AddressReconciliationParts & { readonly tell: TellProgress },
): Promise<AddressReconciliation> {
  const { storage, assets, tell } = parts;
  const findings: AddressReport[] = [];
  let sums: readonly AddressTally[] = assets.tokens.map(() => EMPTY_TALLY);
  let addresses = 0;
  for (let after = ""; ;) {
    const page = await storage.ordersAfter(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return bodyOf(assets, { addresses, findings, sums });
    after = last.id;
    addresses += page.length;
    tell({ addresses });
    for (let start = 0; start < page.length; start += ORDERS_AT_ONCE) {
      const batch = page.slice(start, start + ORDERS_AT_ONCE);
      for (const { examined, found } of await Promise.all(batch.map(({ id }) => explain(parts, id)))) {
        sums = sums.map((sum, index) => addTallies(sum, examined.tallies[index]?.tally ?? EMPTY_TALLY));
        if (found.length === 0) continue;
        const { order } = examined.view;
        const { status } = examined.transaction;
        findings.push({ transactionId: order.id, address: order.address, status, findings: found });
      }
    }
  }
}

interface Explained {
  readonly examined: ExaminedOrder;
  readonly found: readonly Finding[];
}

async function explain(parts: AddressReconciliationParts, id: string): Promise<Explained> {
  let explained = await look(parts, id);
  let { hasNews } = explained.examined;
  for (let looks = 1; looks < MAX_LOOKS && isOpen(explained); looks++) {
    explained = await look(parts, id);
    hasNews ||= explained.examined.hasNews;
  }
  if (hasNews || isOpen(explained)) await parts.engine.send(parts.orders, id, { type: "LOOK" });
  return explained;
}

/** Whether another look may tell more. */
function isOpen({ examined, found }: Explained): boolean {
  return examined.hasNews || !areExplained(found);
}

async function look(parts: AddressReconciliationParts, id: string): Promise<Explained> {
  const examined = await examineOrder(parts, id);
  // Read after the order: one that has come to rest meanwhile has released what was promised to it.
  const row = await parts.storage.reservation(id);
  const reserved = row === null || row.releasedAt !== null ? null : row.amount;
  return { examined, found: findingsOf(examined, reserved) };
}

/** `sums` in the order of the token list. */
interface SummedAddresses extends Pick<AddressReconciliation, "addresses" | "findings"> {
  readonly sums: readonly AddressTally[];
}

function bodyOf(assets: Assets, { addresses, findings, sums }: SummedAddresses): AddressReconciliation {
  return {
    addresses,
    assets: assets.tokens.map(({ symbol, decimals }, index) => {
      const amounts = Object.entries(sums[index] ?? EMPTY_TALLY).map(([name, sum]) => [
        name,
        formatAmount(sum as bigint, decimals),
      ]);
      return { asset: symbol, ...Object.fromEntries(amounts) } as AssetTally;
    }),
    findings,
  };
}
