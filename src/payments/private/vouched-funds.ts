/** Vouched money: money at a deposit address that operators have vouched for; later money is not covered. */
import type { DepositRecord, VouchingRecord } from "../tables/deposits.ts";
import type { PaymentRecord } from "../tables/payments.ts";
import type { PaymentStorage } from "../payment-storage.ts";
import type { Address } from "../../address.ts";
import type { Evidence } from "../../ledger/belief.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { countedDeposit } from "../deposit-context.ts";
import type { Inflow } from "../../ledger/routing.ts";
import { ledgerMint, type Assets, type Token } from "../assets/assets.ts";
import { readPlan } from "../outgoing/plans/stored-plan.ts";
import { receivedFunds, writtenPart } from "./received-funds.ts";

/**
 * Money that operators have vouched for. Money from these transactions, or within these sums, needs no further check.
 */
export interface VouchedFunds {
  readonly signatures: ReadonlySet<string>;
  /** Money of a later slot is not covered; 0 when no word names a slot. */
  readonly slot: number;
  /** Base units by mint: the highest total received when a word was given. */
  readonly came: ReadonlyMap<string, bigint>;
  /** The newest word's redirection; null while refunds go to the sender. */
  readonly redirection: Redirection | null;
}

/** An operator's leave to refund to another address than the sender's: what was there then, and no more. */
interface Redirection {
  /** The id of the word. */
  readonly word: string;
  readonly to: Address;
  /** Base units by mint, network costs included. */
  readonly allowed: Readonly<Record<string, string>>;
}

/** The reason why an address with money left after a refund to another address is held: a person decides anew. */
export const SENT_ELSEWHERE = "sent_elsewhere";

/** Money that operators have vouched for at an address so far; null without a word. */
export async function vouchedFunds(
  storage: Pick<PaymentStorage, "vouchings">,
  address: string,
): Promise<VouchedFunds | null> {
  const words = await storage.vouchings(address);
  if (words.length === 0) return null;
  const came = new Map<string, bigint>();
  for (const [mint, amount] of words.flatMap((word) => Object.entries(word.came))) {
    const units = BigInt(amount);
    if (units > (came.get(mint) ?? 0n)) came.set(mint, units);
  }
  return {
    slot: Math.max(...words.map(({ slot }) => slot ?? 0)),
    signatures: new Set(words.flatMap(({ signatures }) => signatures)),
    came,
    redirection: redirectionOf(words.at(-1)),
  };
}

function redirectionOf(word: VouchingRecord | undefined): Redirection | null {
  if (word === undefined || word.refundTo === null) return null;
  return { word: word.id, to: word.refundTo, allowed: word.allowed ?? {} };
}

/**
 * The rest of a mint that may still go to the new receiver: a refund that landed or may land has used its amount and
 * its cost.
 */
export function leftOf(
  { word, allowed }: Redirection,
  payments: readonly PaymentRecord[],
  mint: string,
): bigint {
  const under = payments
    .filter(({ status }) => status !== "failed")
    .map(({ plan }) => readPlan(plan))
    .filter((plan) => plan.word === word);
  const used = under
    .flatMap(({ movements, withheld }) =>
      movements
        .filter((each) => each.kind === "refund" && each.mint === mint)
        .map(({ amount }) => BigInt(amount) + BigInt(withheld)),
    )
    .reduce((sum, amount) => sum + amount, 0n);
  const left = BigInt(allowed[mint] ?? "0") - used;
  return left > 0n ? left : 0n;
}

/** The part of a vouching that the chain tells. */
export interface VouchingEvidence extends Pick<VouchingRecord, "step" | "slot" | "signatures" | "came"> {
  /** Base units that are there now, as decimal strings, by mint. */
  readonly there: Readonly<Record<string, string>>;
}

export interface MoneyParts {
  readonly storage: PaymentStorage;
  readonly ledger: Ledger;
  /** The ledger with its configured number of witnesses, never lowered by operators. */
  readonly configured: Pick<Ledger, "witnesses">;
  readonly assets: Assets;
}

/**
 * The money at an address as an operator vouches for it now. Null while a payment out of it is under way or being written
 * down: a payment that the chain does not show yet would count twice, and a word that covers too much would serve a later
 * payer. While fewer endpoints decide than are configured, only what was written down before counts: what one of them tells
 * of new money may be false, and a word has no end.
 */
export async function moneyThere(
  { storage, ledger, configured, assets }: MoneyParts,
  deposit: DepositRecord,
): Promise<VouchingEvidence | null> {
  const { id: address } = deposit;
  const { version: before, context } = await countedDeposit(storage, address);
  if (await isUnderWay({ storage, ledger }, deposit, context.underWay)) return null;
  const found = await receivedFunds({ storage, ledger, assets }, address);
  const isLowered = (await ledger.witnesses()).needed < (await configured.witnesses()).needed;
  const { slot, amounts, there, strays } = isLowered ? writtenPart(found) : found;
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  // What the search has not found by then is vouched for by its amount alone.
  const { inflows } = await ledger.payersOf(address, mints, {
    accounts: strays,
    isExplained: (listed) =>
      assets.tokens.every((asset, index) => broughtOf(asset, listed) >= (amounts[index] ?? 0n)),
  });
  if (slot < context.settledSlot || (await countedDeposit(storage, address)).version !== before) return null;
  return {
    step: before,
    slot,
    signatures: [...new Set(inflows.map(({ signature }) => signature))],
    came: byMint(assets, amounts),
    there: byMint(assets, there),
  };
}

/**
 * Whether a payment of the address's own may still land, or is a refund by an earlier word that is about to be signed. While
 * the address is held nothing is signed, and signing asks for the newest word again.
 */
async function isUnderWay(
  { storage, ledger }: Pick<MoneyParts, "storage" | "ledger">,
  { heldReason }: DepositRecord,
  payment: string | null,
): Promise<boolean> {
  const row = payment === null ? null : await storage.payment(payment);
  if (row === null || row.status === "finalized" || row.status === "failed") return false;
  if (heldReason === null && readPlan(row.plan).word !== undefined) return true;
  if (row.signature === null) return false;
  const heights = ledger.heights("finalized");
  const [[attempt], { agreed }] = await Promise.all([storage.attempts([row.signature]), heights]);
  return attempt !== undefined && attempt.lastValidBlockHeight >= agreed;
}

function broughtOf(asset: Token, inflows: Evidence<readonly Inflow[]>): bigint {
  return inflows
    .filter(({ mint }) => mint === ledgerMint(asset))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function byMint({ tokens }: Assets, amounts: readonly bigint[]): Readonly<Record<string, string>> {
  return Object.fromEntries(tokens.map(({ mint }, index) => [mint, String(amounts[index] ?? 0n)]));
}
