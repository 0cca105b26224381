/** Screens those who paid in to a deposit address, by amount: what came in must have come from payers who are served. */
import type { PaymentStorage } from "../payment-storage.ts";
import { knownAddress } from "../../address.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Inflow } from "../../ledger/routing.ts";
import type { Clock } from "../../runtime.ts";
import { ledgerMint, smallestAmount, type Assets } from "../assets/assets.ts";
import { cameIn } from "./came-in.ts";
import { refusedAmong, type Screen, type ScreenedParty } from "../recipients/screening.ts";
import { vouchedMoney, type VouchedMoney } from "./vouched-money.ts";

/**
 * Whether the money at a deposit address may move: the sender, who gets what is refunded, is not refused, and all that
 * came in came from payers who are not refused, but for what an operator has vouched for. False is final until an operator
 * releases the address. Rejects when it is not known now: the host or the chain cannot be asked, or the nodes do not list yet where the money came from.
 */
export type ScreenPayers = (address: string, transactionId: string) => Promise<boolean>;

/** What screening payers needs. */
export interface PayersScreening {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly clock: Clock;
  /** Null when the host does not screen. */
  readonly screen: Screen | null;
}

/** Each account costs a call, and opening one costs its stranger rent. */
const MAX_STRAYS = 50;
/** Nodes list a finalized transaction a moment after they show its money; another node may be seconds behind. */
const PATIENCE_MS = 2 * 60_000;

/**
 * `ours` are addresses whose money is our own: the sponsor lends, and pays for collecting.
 *
 * Of each asset less than the smallest deposit may remain unexplained or come from a payer who is refused: else anybody
 * could have an order held by a gift of one base unit.
 */
export function payersScreening(
  { screen, ...shared }: PayersScreening,
  ours: readonly string[],
): ScreenPayers {
  const { storage, ledger, assets, clock } = shared;
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  const gaps = new HistoryGaps(clock);
  return async (text, transactionId) => {
    const address = knownAddress(text);
    if (screen === null) return true;
    const view = await storage.transaction(transactionId);
    if (view === null) throw new Error(`transaction ${transactionId} is not stored`);
    // What came in is read first: all of it must be listed by the time the history is read.
    const vouched = await vouchedMoney(storage, address);
    const { amounts, strays } = await cameIn(shared, address);
    const isMore = cameMore(assets, amounts, vouched);
    if (isMore && strays.length > MAX_STRAYS) return false;
    const { inflows, isWhole } = await ledger.payersOf(address, mints, strays.slice(0, MAX_STRAYS));
    // Where one hides among a hundred transactions that bring nothing, an operator has to look.
    if (isMore && !isWhole) return false;
    const fromOutside = inflows.filter((inflow) => !isOurs(inflow, ours));
    const isNamed = ({ signature }: Inflow): boolean => vouched?.signatures.has(signature) === true;
    const fresh = fromOutside.filter((inflow) => !isNamed(inflow));
    const sender = { address: view.transaction.sender, role: "sender" as const };
    const parties = [...(isMore || weighs(assets, fresh) ? [sender] : []), ...payersIn(fresh)];
    const refused = await refusedAmong(
      screen,
      parties.filter((party) => !ours.includes(party.address)),
      transactionId,
    );
    if (refused.some(({ role }) => role === "sender")) return false;
    const isRefused = new Set(refused.map((party) => party.address));
    const sums = assets.tokens.map((asset, index) => {
      const ofAsset = ({ mint }: Inflow): boolean => mint === ledgerMint(asset);
      const named = sumsOf(fromOutside.filter(isNamed).filter(ofAsset), isRefused).listed;
      const covered = vouched?.came.get(asset.mint) ?? 0n;
      return {
        smallest: smallestAmount(asset),
        // What the nodes have never listed is covered by its amount alone.
        open: (amounts[index] ?? 0n) - (named > covered ? named : covered),
        ...sumsOf(fresh.filter(ofAsset), isRefused),
      };
    });
    if (sums.some(({ unserved, smallest }) => unserved >= smallest)) return false;
    if (sums.every(({ open, listed, smallest }) => open - listed < smallest)) {
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
function cameMore({ tokens }: Assets, amounts: readonly bigint[], vouched: VouchedMoney | null): boolean {
  return (
    vouched === null ||
    tokens.some((asset, index) => {
      const covered = vouched.came.get(asset.mint) ?? 0n;
      return (amounts[index] ?? 0n) - covered >= smallestAmount(asset);
    })
  );
}

/** Whether these come to a deposit in any asset. */
function weighs({ tokens }: Assets, inflows: readonly Inflow[]): boolean {
  return tokens.some((asset) => {
    const ofAsset = inflows.filter(({ mint }) => mint === ledgerMint(asset));
    return ofAsset.reduce((sum, { amount }) => sum + amount, 0n) >= smallestAmount(asset);
  });
}

/** The sponsor's loans are no deposits. */
function isOurs({ from, feePayer, unattributed }: Inflow, ours: readonly string[]): boolean {
  return (
    unattributed === 0n && [feePayer, ...from.map(({ payer }) => payer)].every((each) => ours.includes(each))
  );
}

/** Everybody who gave, and everybody who paid for a transaction in which money was given, once each. */
function payersIn(inflows: readonly Inflow[]): readonly ScreenedParty[] {
  const payers = new Set(
    inflows.flatMap(({ from, feePayer }) => [...from.map(({ payer }) => payer), feePayer]),
  );
  return [...payers].map((address) => ({ address, role: "depositor" }));
}

/** Of one asset's inflows: what they come to, and how much of it has no payer who is known and served. */
function sumsOf(
  inflows: readonly Inflow[],
  isRefused: ReadonlySet<string>,
): { readonly listed: bigint; readonly unserved: bigint } {
  let listed = 0n;
  let unserved = 0n;
  for (const { amount, from, feePayer, unattributed } of inflows) {
    listed += amount;
    const isServed = [feePayer, ...from.map(({ payer }) => payer)].every((payer) => !isRefused.has(payer));
    unserved += isServed ? unattributed : amount;
  }
  return { listed, unserved };
}

/** So many addresses are remembered; one that is forgotten is waited for once more. */
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
