/** Screens who gave and who gets before money moves: a refusal stops it until a person has looked. */
import { smallestAmount, type Assets } from "../frame/assets/assets.ts";
import { commitOne } from "../../../storage/decided.ts";
import { newId } from "../frame/ids.ts";
import { untoldEvent } from "../frame/notices/notice-writes.ts";
import type { PrivateContext, PrivateWrite } from "./private-storage.ts";
import {
  refusedAmong,
  SCREENING,
  type ScreenAddress,
  type ScreenedAddress,
} from "../frame/recipients/recipients.ts";
import type { DepositRecord, HoldRecord, OrderView } from "./tables.ts";
import type { StoredOrder } from "./look.ts";

/**
 * `clear`: money may move. `refused`: the host serves one of them not. `unknown`: who gave 0.001 or more of an asset is
 * not known, by the listed deposits of the order's row.
 */
export type ScreenVerdict = "clear" | "refused" | "unknown";

/** Rejects while the host does not answer: then nothing is signed. */
export type ScreenOrder = (order: StoredOrder, to: "recipients" | "sender") => Promise<ScreenVerdict>;

interface ScreeningParts extends Pick<PrivateContext, "storage" | "assets" | "clock"> {
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
}

/**
 * Screening of an order's parties before a go (`recipients`) or a rest (`sender`). Asked about are the sender and every payer,
 * before a go the recipients as well. Money that had come when a person ended a hold is not screened again, nor is a
 * recipient who was refused then. Less than 0.001 of an asset may come from anybody, or a stranger's gift of a base unit
 * would hold each order.
 */
export function orderScreening(deps: ScreeningParts): ScreenOrder {
  const { screen, assets } = deps;
  const asked = new AskedParts();
  return async (order, to) => {
    if (screen === null) return "clear";
    const { view, terms } = order;
    const uncovered = uncoveredDeposits(view);
    const isKnown = isExplained(view, assets, uncovered);
    if (!isKnown && asked.has(view)) return "unknown";
    const isNew = assets.tokens.some((asset) => cameOf(view, asset.mint) >= smallestAmount(asset));
    const payers = new Set(uncovered.map(({ payer }) => payer).filter((payer) => payer !== null));
    const parties: readonly ScreenedAddress[] = [
      ...(isNew ? [{ address: terms.sender, role: "sender" as const }] : []),
      ...[...payers].map((address) => ({ address, role: "depositor" as const })),
    ];
    const refused = await refusedAmong(screen, parties, terms.id);
    if (refused.some(({ role }) => role === "sender")) return "refused";
    if (to === "recipients" && (await isRecipientRefused({ ...deps, screen }, order))) return "refused";
    const isRefused = new Set(refused.map(({ address }) => address));
    const ofRefused = uncovered.filter(({ payer }) => payer !== null && isRefused.has(payer));
    if (weighs(assets, ofRefused)) return "refused";
    if (isKnown) return "clear";
    asked.add(view);
    return "unknown";
  };
}

/** The number of orders whose screening one process remembers: a forgotten order is asked about once more. */
const MOST_ASKED = 10_000;

/**
 * Orders of whose deposits a part has no payer, with those that were there when the host was asked about the others. Nothing moves
 * before all of them are known, and each look until then would ask about the same payers again.
 */
class AskedParts {
  readonly #deposits = new Map<string, string>();

  has({ order, deposits }: OrderView): boolean {
    return this.#deposits.get(order.id) === textOf(deposits);
  }

  add({ order, deposits }: OrderView): void {
    this.#deposits.delete(order.id);
    this.#deposits.set(order.id, textOf(deposits));
    const [oldest] = this.#deposits.keys();
    if (this.#deposits.size > MOST_ASKED && oldest !== undefined) this.#deposits.delete(oldest);
  }
}

function textOf(deposits: readonly DepositRecord[]): string {
  return `${deposits.length} of ${deposits.reduce((sum, { amount }) => sum + amount, 0n)}`;
}

/**
 * Whether a recipient is refused whom no release covers. When one was first refused is a fact: a hold that began later and was
 * ended by a person covers it, and nobody who is refused after that.
 */
async function isRecipientRefused(
  { storage, clock, screen }: ScreeningParts & { readonly screen: ScreenAddress },
  { view, terms }: StoredOrder,
): Promise<boolean> {
  const parties = terms.members.map(({ index, address }) => ({ index, address, role: "recipient" as const }));
  const refused = await refusedAmong(screen, parties, terms.id);
  const ids = refused.map(({ index }) => `refused recipient:${terms.id}:${index}`);
  const known = await Promise.all(ids.map((id) => storage.fact(id)));
  const fresh = ids.filter((_, index) => known[index] === null);
  const value = String(clock.now());
  const writes = fresh.map((id): PrivateWrite => ({ table: "facts", insert: { id, value } }));
  if (writes.length > 0) await commitOne(storage, { writes });
  const released = view.holds.filter(({ reason, endedAt }) => reason === SCREENING && endedAt !== null);
  return known.some((at) => at === null || !released.some(({ since }) => since >= Number(at)));
}

/** The received sum of an asset beyond the sum that persons have released. */
function cameOf({ levels, holds }: OrderView, mint: string): bigint {
  const level = levels.find((each) => each.mint === mint);
  return (level?.received ?? 0n) - coveredOf(holds, mint);
}

/** The received sum of an asset when a person last ended a hold of screening: he has seen who paid. */
function coveredOf(holds: readonly HoldRecord[], mint: string): bigint {
  const sums = holds.map(({ covers }) => BigInt(covers?.[mint] ?? 0n));
  return sums.reduce((most, sum) => (sum > most ? sum : most), 0n);
}

/** Deposits that count and that no release covers: of each asset the first ones make up what it covered. */
function uncoveredDeposits({ deposits, holds }: OrderView): readonly DepositRecord[] {
  const sums = new Map<string, bigint>();
  return deposits
    .filter(({ account }) => account === null)
    .toSorted((a, b) => (a.slot ?? Infinity) - (b.slot ?? Infinity))
    .filter(({ mint, amount }) => {
      const sum = (sums.get(mint) ?? 0n) + amount;
      sums.set(mint, sum);
      return sum > coveredOf(holds, mint);
    });
}

/** Whether these come to 0.001 of an asset. */
function weighs({ tokens }: Assets, deposits: readonly DepositRecord[]): boolean {
  return tokens.some((asset) => sumOf(deposits, asset.mint) >= smallestAmount(asset));
}

/** Whether listed deposits with one payer bring all that came, less than 0.001 aside. */
function isExplained(view: OrderView, { tokens }: Assets, uncovered: readonly DepositRecord[]): boolean {
  const known = uncovered.filter(({ payer }) => payer !== null);
  return tokens.every((asset) => cameOf(view, asset.mint) - sumOf(known, asset.mint) < smallestAmount(asset));
}

function sumOf(deposits: readonly DepositRecord[], mint: string): bigint {
  return deposits.reduce((sum, each) => (each.mint === mint ? sum + each.amount : sum), 0n);
}

/** Opens a hold: in the commit that keeps something from being signed, beside the order's version that it was concluded from. */
export function holdOrder(
  { random }: Pick<PrivateContext, "random">,
  hold: Pick<HoldRecord, "order" | "reason" | "since">,
): readonly PrivateWrite[] {
  const id = newId("hold", hold.since, random);
  return [
    { table: "holds", insert: { id, ...hold, endedAt: null, covers: null } },
    untoldEvent(hold.order, { event: "transaction.held", by: id }),
  ];
}

/** Whether a hold of the order has not ended. */
export function isHeld({ holds }: Pick<OrderView, "holds">): boolean {
  return holds.some(({ endedAt }) => endedAt === null);
}
