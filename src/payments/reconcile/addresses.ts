/** Compares every deposit address with the chain: each base unit that ever came in is explained, or is a finding. */
import { formatAmount } from "../../amount.ts";
import type { Logger } from "../../runtime.ts";
import type { Assets } from "../assets/assets.ts";
import { holdAddress, keepUnknown, UNKNOWN_SPENDING } from "../outgoing/unknown-spending.ts";
import { livesUntil } from "../life-sign-loop.ts";
import { storageTime } from "../service-context.ts";
import {
  examineAddress,
  examineClosed,
  type ExaminationParts,
  type ExaminedAddress,
  type RunningExaminationParts,
} from "./examine-address.ts";
import {
  areExplained,
  findingsOf,
  isSpentElsewhere,
  type AddressReport,
  type Finding,
  type TellProgress,
} from "./findings.ts";
import { addTallies, EMPTY_TALLY, type AddressTally } from "./tally.ts";

/**
 * Sums over all deposit addresses, for one asset. Decimal strings in whole units; see `AddressTally` for their
 * relations.
 */
export type AssetTally = { readonly asset: string } & { readonly [K in keyof AddressTally]: string };

/** The reconciliation of all deposit addresses. */
export interface AddressReconciliation {
  /** How many addresses were looked at. */
  readonly addresses: number;
  readonly assets: readonly AssetTally[];
  /** Addresses with a finding, those that are explained and wait for an operator included. */
  readonly findings: readonly AddressReport[];
}

/** To examine addresses, and to know whose lamports are promised to orders. */
export type AddressReconciliationParts = ExaminationParts & {
  readonly log: Logger;
  readonly sponsor: string;
};

type Reconciling = AddressReconciliationParts & RunningExaminationParts;

export function noAddresses(assets: Assets): AddressReconciliation {
  return bodyOf(assets, {
    addresses: 0,
    findings: [],
    sums: assets.tokens.map(() => EMPTY_TALLY),
  });
}

const PAGE = 100;
/**
 * The number of addresses examined at once: an address takes several calls to the chain; the ledger itself keeps to the
 * rate of its endpoints.
 */
const ADDRESSES_AT_ONCE = 8;
/** Payments go on meanwhile: what cannot be explained is looked at again before it is reported. */
const MAX_LOOKS = 3;

/**
 * Goes through all deposit addresses, a page at a time; the money of orders that are under way is explained by their
 * payments. An address that has paid out what this database does not know is frozen on the spot, and one whose history shows
 * that it has not, after a gap in the lives of the database, is noted as checked. Nothing else is changed, so it may run
 * beside any number of services. Rejects with `LedgerUnavailable` when the chain cannot be read
 * to the end; what was frozen until then stays so.
 */
export async function reconcileAddresses(
  parts: AddressReconciliationParts & { readonly tell: TellProgress },
): Promise<AddressReconciliation> {
  const { storage, assets, tell } = parts;
  const deps = { ...parts, lives: livesUntil(await storage.lives(), await storageTime(parts)) };
  const findings: AddressReport[] = [];
  let sums: readonly AddressTally[] = assets.tokens.map(() => EMPTY_TALLY);
  let addresses = 0;
  for (let after = ""; ;) {
    const page = await storage.depositsAfter(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) break;
    after = last.id;
    addresses += page.length;
    tell({ addresses });
    const closed = await examineClosed(
      deps,
      page.map(({ id }) => id),
    );
    const explained = [...closed.values()].map((examined): Explained => ({ examined, found: [] }));
    const others = page.map(({ id }) => id).filter((id) => !closed.has(id));
    for (let start = 0; start < others.length; start += ADDRESSES_AT_ONCE) {
      explained.push(...(await explain(deps, others.slice(start, start + ADDRESSES_AT_ONCE))));
    }
    for (const { examined, found } of explained) {
      sums = sums.map((sum, index) => addTallies(sum, examined.tallies[index]?.tally ?? EMPTY_TALLY));
      if (found.length === 0) continue;
      const { deposit, orderStatus } = examined.facts;
      const { id: address, transactionId } = deposit;
      findings.push({ transactionId, address, status: orderStatus, findings: found });
    }
  }
  return bodyOf(assets, { addresses, findings, sums });
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

interface Explained {
  readonly examined: ExaminedAddress;
  readonly found: readonly Finding[];
}

async function explain(deps: Reconciling, ids: readonly string[]): Promise<readonly Explained[]> {
  const explained = new Map<string, Explained>();
  let doubtful = ids;
  for (let looks = 0; looks < MAX_LOOKS && doubtful.length > 0; looks++) {
    for (const each of await look(deps, doubtful)) explained.set(each.examined.facts.deposit.id, each);
    doubtful = doubtful.filter((id) => !areExplained(explained.get(id)?.found ?? []));
  }
  return Promise.all([...explained.values()].map((each) => freezeIfSpent(deps, each)));
}

async function look(deps: Reconciling, ids: readonly string[]): Promise<readonly Explained[]> {
  const all = await Promise.all(ids.map((id) => examineAddress(deps, id)));
  // Read after the addresses: an order that has come to rest meanwhile has released what was promised to it.
  return Promise.all(
    all.map(async (examined) => {
      const row = await deps.storage.reservation(examined.facts.deposit.transactionId);
      const reserved = row === null || row.releasedAt !== null ? null : row.amount;
      return { examined, found: findingsOf(examined, reserved) };
    }),
  );
}

async function freezeIfSpent(deps: AddressReconciliationParts, explained: Explained): Promise<Explained> {
  const { examined, found } = explained;
  const { deposit } = examined.facts;
  await keepUnknown(deps.storage, deposit.id, examined.unknownSignatures);
  if (!isSpentElsewhere(found) || deposit.heldReason !== null) return explained;
  await holdAddress(deps.storage, deposit.id, UNKNOWN_SPENDING);
  deps.log.error(
    { address: deposit.id, findings: found },
    "a deposit address has paid what this database does not know of; nothing more is signed for it",
  );
  return { examined, found: [...found, { finding: "held", reason: UNKNOWN_SPENDING }] };
}
