/** Asks who has paid, once, when an order has got what it waited for. It is shown, and nothing waits for it or goes by it. */
import { commitOne } from "../../../storage/decided.ts";
import type { Address } from "../../address.ts";
import { LedgerUnavailable } from "../../ledger/ledger.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Inflow } from "../../ledger/routing.ts";
import { ledgerMint, type Assets } from "../assets/assets.ts";
import type { PaymentWrite } from "../payment-storage.ts";
import { inLanes } from "../semaphore.ts";
import type { ServiceContext } from "../service-context.ts";
import type { EntryRecord } from "../tables/deposits.ts";
import type { WatchedAddress } from "./look-at-account.ts";

/** Addresses that are asked about at once: each costs a list for each of its accounts, and what is listed. */
const LANES = 4;
/** Addresses that are asked about in one look: the next look at deposits waits for the answers. */
const MOST_IN_A_LOOK = 20;
/** An endpoint may list a transaction a moment after others show its money. */
const TRIES = 2;
/** More addresses than that do not get their money at once. */
const MAX_WAITING = 10_000;
/** An order that was funded longer ago is asked about no more: after a start every address seems to have news. */
const FRESH_MS = 10 * 60_000;

type DepositPayerParts = Pick<ServiceContext, "storage" | "ledger" | "assets" | "clock">;

/** The addresses whose payers are asked for; lost with the process, and unknown then. */
export class DepositPayerQueue {
  readonly #with: DepositPayerParts;
  /** How many more times each is asked about. */
  readonly #waiting = new Map<Address, number>();

  constructor(parts: DepositPayerParts) {
    this.#with = parts;
  }

  /** There is more at an address than was told before, and its entry is stored. */
  note({ address }: Pick<WatchedAddress, "address">): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.set(address, TRIES);
  }

  /** Asks about those that wait, until the signal aborts. */
  async work(signal: AbortSignal): Promise<void> {
    const now = [...this.#waiting].slice(0, MOST_IN_A_LOOK);
    for (const [address] of now) this.#waiting.delete(address);
    const left = await inLanes({ lanes: LANES, signal }, now, async ([address, tries]) => {
      const isDone = await this.#ask(address).catch(unlessSilent);
      if (!isDone && tries > 1) this.#waiting.set(address, tries - 1);
    });
    for (const [address, tries] of left) this.#waiting.set(address, tries);
  }

  /** Whether nothing is left to be asked: each payer is known, or the order is not funded. */
  async #ask(address: Address): Promise<boolean> {
    const { storage, ledger, assets, clock } = this.#with;
    const [[deposit], entries] = await Promise.all([storage.deposits([address]), storage.entries(address)]);
    const endedAt = deposit?.waitEndedAt ?? null;
    if (deposit === undefined || endedAt === null || clock.now() - endedAt > FRESH_MS) return true;
    const came = entries.filter(({ kind, at }) => kind === "deposit" && at <= endedAt);
    const sum = came.reduce(
      (total, { mint, amount }) => (mint === deposit.mint ? total + amount : total),
      0n,
    );
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
}

/**
 * Who gave each of these deposits of one mint and amount. Null unless the chain shows as many transactions of that amount, and
 * in each the same wallet gave all of it: a deposit may be what two transactions brought between two looks.
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
  const payers = new Set(brought.map(givenBy));
  const [payer = null] = payers;
  return brought.length === alike.length && payers.size === 1 ? payer : null;
}

/** The one wallet that gave all of it; null where others, or a program, may have given a part. */
function givenBy({ from, amount, unattributed }: Inflow): Address | null {
  const [giver, another] = from;
  const isWhole = unattributed === 0n && another === undefined && giver?.amount === amount;
  return isWhole ? giver.payer : null;
}

/** It stays unknown where the chain cannot be asked. */
function unlessSilent(error: unknown): false {
  if (error instanceof LedgerUnavailable) return false;
  throw error;
}
