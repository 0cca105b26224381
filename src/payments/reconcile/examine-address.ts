/** Compares the database's record of a deposit address with the chain. */
import type { LifeRecord } from "../tables/database.ts";
import type { DepositRecord, EntryRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { ChartSnapshot } from "../../engine/index.ts";
import { LedgerUnavailable, type Ledger } from "../../ledger/ledger.ts";
import type { Funds, OutgoingTransaction } from "../../ledger/routing.ts";
import type { Clock } from "../../runtime.ts";
import { ledgerMint, type Assets, type Token } from "../assets/assets.ts";
import type { DepositKeys } from "../secrets/deposit-keys.ts";
import { proofOf, readPlan } from "../outgoing/plans/stored-plan.ts";
import { spendingOf } from "../outgoing/unknown-spending.ts";
import { recordedIn, tallyOf, type AddressTally } from "./tally.ts";

export interface ExaminationParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly assets: Assets;
  readonly keys: DepositKeys;
}

/** An examination under way, with the lives of the database up to its beginning. */
export type RunningExaminationParts = ExaminationParts & { readonly lives: readonly LifeRecord[] };

interface AddressFacts {
  readonly deposit: DepositRecord;
  readonly orderStatus: string;
  readonly payments: readonly PaymentRecord[];
  readonly entries: readonly EntryRecord[];
  /** The state of its machine, such as `resting`; null without a machine. */
  readonly state: string | null;
  /** The slot from which on a reading shows all recorded payments. */
  readonly settledSlot: number;
}

/** A payment whose row says something else than the chain. */
interface Contradiction {
  readonly payment: string;
  readonly recorded: PaymentRecord["status"];
  readonly onChain: "landed" | "landed_with_error";
}

export interface ExaminedAddress {
  readonly facts: AddressFacts;
  readonly tallies: readonly { readonly asset: Token; readonly tally: AddressTally }[];
  /** Recorded tokens of foreign mints, in raw units. */
  readonly otherMints: readonly { readonly mint: string; readonly units: bigint }[];
  /** Signatures of the address that landed and that this database does not know. */
  readonly unknownSignatures: readonly string[];
  /** Whether too few nodes have the history of every gap in the lives of the database: then there may be more. */
  readonly isHistoryMissing: boolean;
  /** Payments that were never signed here, by their words, whose marker is on the chain all the same. */
  readonly unknownMarkers: readonly string[];
  readonly contradictions: readonly Contradiction[];
}

/** A node may be behind: it is asked at most this many times, with this pause. */
const MAX_LOOKS = 10;
const PAUSE_MS = 1_000;

/**
 * Reads the database first, then the chain, so that the chain reading includes all recorded payments. Throws
 * `LedgerUnavailable` when the chain cannot be read, or only in a state before the last recorded payment, which allows
 * no conclusion.
 */
export async function examineAddress(
  examination: RunningExaminationParts,
  id: string,
): Promise<ExaminedAddress> {
  const { storage, ledger, clock, assets, lives } = examination;
  const mints = mintsOf(assets);
  for (let look = 1; look <= MAX_LOOKS; look++) {
    const facts = await readFacts(storage, id);
    const { slot, ...held } = await ledger.fundsOfOwner(facts.deposit.id, mints, "finalized");
    if (slot < facts.settledSlot) {
      await clock.sleep(PAUSE_MS);
      continue;
    }
    const spending = await spendingOf({ storage, ledger }, facts.deposit, lives);
    const { transactions, unknown, explained, isProven } = spending;
    return {
      facts,
      tallies: talliesOf(assets, facts, {
        held,
        landed: transactions.filter((each) => each.slot <= slot),
        isVouchedFor: explained.length > 0,
      }),
      otherMints: otherMintsOf(assets, facts),
      unknownSignatures: unknown,
      isHistoryMissing: !isProven,
      unknownMarkers: await markersOfUnsigned(examination, facts),
      contradictions: contradictionsOf(facts, transactions),
    };
  }
  throw new LedgerUnavailable(`the ledger shows ${id} only as it was before its last recorded payment`);
}

/**
 * Addresses that are closed and empty by their own lines, and whose accounts the chain shows to be empty: looked at
 * together, without the history of each. Years of them would otherwise take days. Those that need more are left out.
 */
export async function examineClosed(
  { storage, ledger, assets }: ExaminationParts,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExaminedAddress>> {
  const all = await Promise.all(ids.map((id) => readFacts(storage, id)));
  const closed = all.filter((facts) => isClosedAndEmpty(assets, facts));
  if (closed.length === 0) return new Map();
  const addresses = closed.map(({ deposit }) => deposit.id);
  const { slot, funds } = await ledger.funds(addresses, mintsOf(assets), "finalized");
  const examined = new Map<string, ExaminedAddress>();
  closed.forEach((facts, index) => {
    const held = funds[index];
    if (held === undefined || slot < facts.settledSlot || unitsOf(held).some((units) => units > 0n)) return;
    examined.set(facts.deposit.id, {
      facts,
      tallies: talliesOf(assets, facts, { held, landed: [], isVouchedFor: false }),
      otherMints: otherMintsOf(assets, facts),
      unknownSignatures: [],
      isHistoryMissing: false,
      unknownMarkers: [],
      contradictions: [],
    });
  });
  return examined;
}

async function readFacts(storage: PaymentStorage, id: string): Promise<AddressFacts> {
  const [deposit] = await storage.deposits([id]);
  const view = deposit === undefined ? null : await storage.transaction(deposit.transactionId);
  if (deposit === undefined || view === null) throw new Error(`deposit address ${id} is not stored`);
  const [entries, instance] = await Promise.all([storage.entries(id), storage.load(id)]);
  const snapshot = instance === null ? null : (JSON.parse(instance.snapshot) as ChartSnapshot);
  const { settledSlot = 0 } = (snapshot?.context ?? {}) as { readonly settledSlot?: number };
  return {
    deposit,
    orderStatus: view.transaction.status,
    payments: view.payments,
    entries,
    state: snapshot === null ? null : innermost(snapshot.value),
    settledSlot,
  };
}

function innermost(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null ? innermost(Object.values(value)[0]) : null;
}

function isClosedAndEmpty(assets: Assets, { state, deposit, payments, entries }: AddressFacts): boolean {
  return (
    state === "closed" &&
    deposit.heldReason === null &&
    payments.every(({ status }) => status === "finalized" || status === "failed") &&
    assets.tokens.every((asset) => recordedIn(entries.filter(isOf(asset))) === 0n)
  );
}

interface AddressOnChain {
  readonly held: Funds;
  /** The address's own transactions that `held` includes. */
  readonly landed: readonly OutgoingTransaction[];
  readonly isVouchedFor: boolean;
}

function talliesOf(
  assets: Assets,
  { payments, entries }: AddressFacts,
  { held, landed, isVouchedFor }: AddressOnChain,
): ExaminedAddress["tallies"] {
  const booked = new Set(entries.map(({ signature }) => signature));
  const succeeded = new Set(landed.filter(({ error }) => error === null).map(({ signature }) => signature));
  const unrecorded = payments
    .filter(({ signature }) => signature !== null && succeeded.has(signature) && !booked.has(signature))
    .flatMap(({ plan }) => readPlan(plan).movements);
  return assets.tokens.map((asset, index) => {
    const ofAsset = isOf(asset);
    const shown = { unrecorded: unrecorded.filter(ofAsset), held: unitsOf(held)[index] ?? 0n, isVouchedFor };
    const tally = tallyOf(entries.filter(ofAsset), shown);
    return { asset, tally };
  });
}

/** Foreign tokens by the entries alone: the maker of a mint controls its balances on the chain. */
function otherMintsOf(assets: Assets, { entries }: AddressFacts): ExaminedAddress["otherMints"] {
  const mints = new Set(entries.map(({ mint }) => mint).filter((mint) => assets.ofMint(mint) === null));
  return [...mints]
    .map((mint) => ({ mint, units: recordedIn(entries.filter(isOf({ mint }))) }))
    .filter(({ units }) => units > 0n);
}

/** A row may lag behind the chain; it must not say the opposite. */
function contradictionsOf(
  { payments }: AddressFacts,
  transactions: readonly OutgoingTransaction[],
): readonly Contradiction[] {
  const outgoing = new Map(transactions.map((each) => [each.signature, each]));
  return payments.flatMap(({ id: payment, status, signature }): Contradiction[] => {
    const transaction = outgoing.get(signature ?? "");
    if (transaction === undefined) return [];
    const onChain = transaction.error === null ? "landed" : "landed_with_error";
    const isContradiction = onChain === "landed" ? status === "failed" : status === "finalized";
    return isContradiction ? [{ payment, recorded: status, onChain }] : [];
  });
}

/** A marker tells of a payment even where the nodes have lost its transaction. */
async function markersOfUnsigned(
  { ledger, keys }: ExaminationParts,
  { deposit, payments }: AddressFacts,
): Promise<readonly string[]> {
  const unsigned = payments.filter(
    ({ status, signature, plan }) =>
      status === "planned" && signature === null && proofOf(readPlan(plan)) !== null,
  );
  if (unsigned.length === 0) return [];
  const proofs = unsigned.map(({ plan }) => proofOf(readPlan(plan)));
  const seeds = proofs.map((proof) => keys.seed(deposit, proof?.planWords ?? proof?.words ?? ""));
  const { markers } = await ledger.markers(deposit.id, seeds);
  return unsigned.filter((_, index) => typeof markers[index] === "object").map(({ mark }) => mark);
}

function mintsOf(assets: Assets): readonly Address[] {
  return assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
}

/** Units in the order of the token list, SOL first. */
function unitsOf({ lamports, tokens }: Funds): readonly bigint[] {
  return [lamports, ...tokens];
}

function isOf({ mint: wanted }: { readonly mint: string }): (line: { readonly mint: string }) => boolean {
  return ({ mint }) => mint === wanted;
}
