/** Screens those who paid in to a deposit address, by amount: what came in must have come from payers who are served. */
import type { PaymentStorage } from "../payment-storage.ts";
import { knownAddress } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Inflow } from "../../ledger/routing.ts";
import type { Clock } from "../../runtime.ts";
import { ledgerMint, smallestAmount, type Assets, type Token } from "../assets/assets.ts";
import { receivedFunds, type ReceivedFunds } from "./received-funds.ts";
import { refusedAmong, type ScreenAddress, type ScreenedAddress } from "../recipients/recipients.ts";
import { vouchedFunds, type VouchedFunds } from "./vouched-funds.ts";

/**
 * Whether the money at a deposit address may move: `screen` refuses neither the sender, who receives refunds, nor any
 * payer, except for money that an operator has vouched for. False is final until an operator releases the address.
 * Rejects when the answer is not known now: the host or the chain does not answer, or nodes do not list the source of
 * the money yet.
 */
export type PayerCheck = (address: string, transactionId: string) => Promise<boolean>;

interface PayerCheckParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly clock: Clock;
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
}

/** Nodes list a finalized transaction a moment after they show its money; another node may be seconds behind. */
const PATIENCE_MS = 2 * 60_000;

/**
 * `ours` are addresses whose money is our own: the sponsor lends, and pays for collecting.
 *
 * Of each asset less than the smallest deposit may remain unexplained or come from a payer who is refused: else anybody
 * could have an order held by a gift of one base unit.
 */
export function payersScreening({ screen, ...shared }: PayerCheckParts, ours: readonly string[]): PayerCheck {
  const { storage, ledger, assets, clock } = shared;
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  const gaps = new HistoryGaps(clock);
  return async (text, transactionId) => {
    const address = knownAddress(text);
    if (screen === null) return true;
    const view = await storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    // What came in is read first: all of it must be listed by the time the history is read.
    const vouched = await vouchedFunds(storage, address);
    const { amounts, strays } = await receivedFunds(shared, address);
    const isMore = cameMore(assets, amounts, vouched);
    const outsideOf = (inflows: Evidence<readonly Inflow[]>): Evidence<readonly Inflow[]> =>
      inflows.filter((inflow) => !isOurs(inflow, ours));
    const isNamed = ({ signature }: Inflow): boolean => vouched?.signatures.has(signature) === true;
    const isExplained = (inflows: Evidence<readonly Inflow[]>): boolean => {
      const outside = outsideOf(inflows);
      const open = beyondWord(assets, { amounts, vouched }, outside.filter(isNamed));
      return isAllListed(
        assets,
        open,
        outside.filter((inflow) => !isNamed(inflow)),
      );
    };
    // What came after the words of operators is looked at, however much their amounts may cover.
    const after = vouched === null ? {} : { after: vouched.slot };
    const search = { accounts: strays, ...after, isExplained };
    const { inflows, isWhole } = await ledger.payersOf(address, mints, search);
    if (!isWhole) throw new Error(`the search for who paid in to deposit address ${address} goes on`);
    const fresh = outsideOf(inflows).filter((inflow) => !isNamed(inflow));
    const sender = { address: view.transaction.sender, role: "sender" as const };
    // Of an address that was recovered the sender is not known.
    const isAsked = sender.address !== "" && (isMore || weighs(assets, fresh));
    const parties = [...(isAsked ? [sender] : []), ...payersIn(fresh)];
    const refused = await refusedAmong(
      screen,
      parties.filter((party) => !ours.includes(party.address)),
      transactionId,
    );
    if (refused.some(({ role }) => role === "sender")) return false;
    const isRefused = new Set(refused.map((party) => party.address));
    if (!isServed(assets, fresh, isRefused)) return false;
    if (isExplained(inflows)) {
      gaps.close(address);
      return true;
    }
    if (gaps.hasLasted(address, PATIENCE_MS)) return false;
    throw new Error(
      `the nodes do not list all transactions that brought money to deposit address ${address}`,
    );
  };
}

/** Whether more came in of any asset than operators have vouched for; where none has, whatever came. */
function cameMore({ tokens }: Assets, amounts: readonly bigint[], vouched: VouchedFunds | null): boolean {
  return (
    vouched === null ||
    tokens.some((asset, index) => {
      const covered = vouched.came.get(asset.mint) ?? 0n;
      return (amounts[index] ?? 0n) - covered >= smallestAmount(asset);
    })
  );
}

/** Money received, and the part that operators have vouched for. */
interface CameAndVouched extends Pick<ReceivedFunds, "amounts"> {
  readonly vouched: VouchedFunds | null;
}

/**
 * Money received of each asset beyond the money that operators vouched for. Money that nodes never listed is covered by
 * its amount alone.
 */
function beyondWord(
  { tokens }: Assets,
  { amounts, vouched }: CameAndVouched,
  named: Evidence<readonly Inflow[]>,
): readonly bigint[] {
  return tokens.map((asset, index) => {
    const listed = sumOf(inflowsOf(asset, named));
    const covered = vouched?.came.get(asset.mint) ?? 0n;
    return (amounts[index] ?? 0n) - (listed > covered ? listed : covered);
  });
}

/** Whether these come to a deposit in any asset. */
function weighs({ tokens }: Assets, inflows: Evidence<readonly Inflow[]>): boolean {
  return tokens.some((asset) => sumOf(inflowsOf(asset, inflows)) >= smallestAmount(asset));
}

function sumOf(inflows: Evidence<readonly Inflow[]>): bigint {
  return inflows.reduce((sum, { amount }) => sum + amount, 0n);
}

/** The sponsor's loans are no deposits. */
function isOurs({ from, feePayer, unattributed }: Evidence<Inflow>, ours: readonly string[]): boolean {
  return (
    unattributed === 0n && [feePayer, ...from.map(({ payer }) => payer)].every((each) => ours.includes(each))
  );
}

/** Everybody who gave, and everybody who paid for a transaction in which money was given, once each. */
export function payersIn(inflows: Evidence<readonly Inflow[]>): readonly ScreenedAddress[] {
  const payers = new Set(
    inflows.flatMap(({ from, feePayer }) => [...from.map(({ payer }) => payer), feePayer]),
  );
  return [...payers].map((address) => ({ address, role: "depositor" }));
}

/** Whether these inflows bring all that came, but for less than the smallest deposit of each asset. */
function isAllListed(
  { tokens }: Assets,
  amounts: ReceivedFunds["amounts"],
  inflows: Evidence<readonly Inflow[]>,
): boolean {
  return tokens.every((asset, index) => {
    return (amounts[index] ?? 0n) - sumOf(inflowsOf(asset, inflows)) < smallestAmount(asset);
  });
}

/** Whether these inflows have payers who are known and served, but for less than the smallest deposit of each asset. */
function isServed(
  { tokens }: Assets,
  inflows: Evidence<readonly Inflow[]>,
  isRefused: ReadonlySet<string>,
): boolean {
  return tokens.every((asset) => {
    const unserved = inflowsOf(asset, inflows).reduce((sum, { amount, from, feePayer, unattributed }) => {
      const isOfRefused = [feePayer, ...from.map(({ payer }) => payer)].some((payer) => isRefused.has(payer));
      return sum + (isOfRefused ? amount : unattributed);
    }, 0n);
    return unserved < smallestAmount(asset);
  });
}

function inflowsOf(asset: Token, inflows: Evidence<readonly Inflow[]>): Evidence<readonly Inflow[]> {
  return inflows.filter(({ mint }) => mint === ledgerMint(asset));
}

/** The most remembered addresses; a forgotten address only makes the wait begin again. */
const MAX_REMEMBERED = 10_000;

/** For how long this process has seen money at an address that no listed transaction brought. */
class HistoryGaps {
  readonly #clock: Clock;
  readonly #since = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the gap has been there for `ms`; the first time it is asked about an address the gap begins. */
  hasLasted(address: string, ms: number): boolean {
    const now = this.#clock.now();
    const since = this.#since.get(address);
    if (since !== undefined) return now - since >= ms;
    const [oldest] = this.#since.keys();
    if (this.#since.size >= MAX_REMEMBERED && oldest !== undefined) this.#since.delete(oldest);
    this.#since.set(address, now);
    return false;
  }

  /** Everything is explained. */
  close(address: string): void {
    this.#since.delete(address);
  }
}
