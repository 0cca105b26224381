/** The books of one order: whom it paid, what went back, what was kept, and whether it says the same of itself. */
// modules: private
import { NOBODY } from "../../../src/payments/private/protocol/outcome.ts";
import type { TransactionBody } from "../../../src/payments/frame/transactions/transaction-schema.ts";
import { LAMPORTS_PER_BYTE } from "./begin-life.ts";
import type { Books } from "./books.ts";
import { mattersOf } from "./come-to-rest.ts";
import type { LivedOrder } from "./lived-order.ts";
import { ASSETS, type Asset } from "./random-life.ts";

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
/** An account is paid for as if it were so much longer than its data. */
const EMPTY_ACCOUNT_BYTES = 128n;
const TOKEN_ACCOUNT_BYTES = EMPTY_ACCOUNT_BYTES + 165n;
/** Markers of the largest order of a life, at their longest. */
const MARKERS_BYTES = 2n * (EMPTY_ACCOUNT_BYTES + 128n);
/** What the transactions of a refund cost at most, with their bids. */
const NETWORK_FEES = 200_000n;

/** One sentence for each thing that does not add up, where no database believed what is not so. */
export async function brokenOrder(books: Books, order: LivedOrder): Promise<readonly string[]> {
  const { storage, service, caller } = books;
  const broken = [...brokenAmounts(books, order), ...unfounded(books, order)];
  const view = await storage.orderedTransaction(order.id);
  // An older database may have been put in its place that has never heard of it: its address is as it was left.
  if (view !== null && view.order !== null) {
    const shown = await service.transaction(caller, order.id);
    const matters = (await mattersOf(service.operator, order)).map(({ kind }) => kind);
    const { state, overState } = view.order.order;
    const isAtRest = state === "over" && overState === "idle";
    const isWaiting = matters.some((kind) => kind !== "unexplained");
    const told = `it ends ${state} ${String(overState)}, ${shown.status}, and a person is told ${matters.join() || "nothing"}`;
    if (!isAtRest && !isWaiting) broken.push(told);
    if (isAtRest && !OVER.has(shown.status)) broken.push(told);
    broken.push(...brokenStory(books, order, shown));
    if (!isWaiting) broken.push(...ASSETS.flatMap((asset) => brokenKeeping(books, order, asset)));
  }
  return broken.map((sentence) => `order ${order.id}: ${sentence}`);
}

/** Whether a refund can fail for ever: what comes to a frozen account. */
function isSenderFrozen({ wasSenderFrozen, words: { asset }, sent }: LivedOrder): boolean {
  return wasSenderFrozen && asset !== "SOL" && sent[asset] > 0n;
}

/** Whether later chunks may be signed of an address that never had an account of its token: what it lacks holds them. */
function isGoForged({ forged, words: { asset } }: LivedOrder): boolean {
  return forged.has(0) && forged.get(0) !== NOBODY && asset !== "SOL";
}

/** Whether the loan does not keep an address above the rent minimum: once that is more than twice what it was. */
function isBelowRent({ past }: Books, { words: { asset } }: LivedOrder): boolean {
  return asset === "SOL" && past.dearestByte > 2n * LAMPORTS_PER_BYTE;
}

export function wasRobbed({ forged, stolen }: LivedOrder): boolean {
  return forged.size > 0 || ASSETS.some((asset) => stolen[asset] > 0n);
}

/** What waited for a person at any time, and had no reason to: what strangers do is none. */
function unfounded(books: Books, order: LivedOrder): readonly string[] {
  const { past, life } = books;
  const wasDoubled = past.wasRestored || past.hadCopies;
  const isDisturbed = wasDoubled || past.wasPruned || life.liars !== "nobody" || wasRobbed(order);
  const isUntold = isDisturbed || order.cameBeside;
  const isSeen = order.hasRefusedPayer || order.wasHeld || (life.screens && isUntold);
  const mayBe: Readonly<Record<string, boolean>> = {
    held: isSenderFrozen(order) || isSeen || isGoForged(order),
    missing: wasDoubled || wasRobbed(order),
    paid_after_end: wasDoubled || wasRobbed(order),
    fee_left_out: order.forged.has(0),
    waiting_for_funds: past.dearestByte > LAMPORTS_PER_BYTE,
    stuck_payment: isDisturbed || isBelowRent(books, order),
    // A look that endpoints contradict.
    failing_task: life.liars !== "nobody",
    // Tokens of a stranger's mint among them.
    unexplained: true,
  };
  return past.told
    .filter(({ order: id, kind }) => id === order.id && mayBe[kind] !== true)
    .map(({ kind, message }) => `a person was told ${kind} for no reason: ${message}`);
}

/** What all recipients of an order have got of an asset. */
export function paidOf({ gain }: Books, { payees }: LivedOrder, asset: Asset): bigint {
  return payees.reduce((sum, { wallet }) => sum + gain(wallet.address, asset), 0n);
}

/** What has become neither payout nor refund nor swap nor loot, and is not at the address any more: fee, and what refunds cost. */
export function keptOf(books: Books, order: LivedOrder, asset: Asset): bigint {
  const { gain, has } = books;
  const { sent, stolen, sender, elsewhere, address } = order;
  const back = gain(sender.address, asset) + gain(elsewhere.address, asset);
  const left = has(address, asset);
  return (
    sent[asset] - stolen[asset] - paidOf(books, order, asset) - back - left - givenToDesk(books, order, asset)
  );
}

/** What the desk has got of it; less than nothing for what it has given. */
export function givenToDesk({ gain }: Books, { swap, sender }: LivedOrder, asset: Asset): bigint {
  if (swap === null || gain(sender.address, "USDC") === 0n) return 0n;
  return { SOL: swap.gives, USDC: -swap.gets, USDT: 0n }[asset];
}

/** Whoever is paid, is paid exactly and once; nobody who takes part pays for it, and nobody else gets what was not approved. */
export function brokenAmounts({ gain }: Books, order: LivedOrder): string[] {
  const { words, payees, sender, elsewhere, approved, swap } = order;
  const broken: string[] = [];
  for (const asset of ASSETS) {
    for (const [index, { wallet, amount }] of payees.entries()) {
      const got = gain(wallet.address, asset);
      if (got === 0n || (asset === words.asset && got === amount)) continue;
      broken.push(`recipient ${index} is due ${amount} ${words.asset} and got ${got} ${asset}`);
    }
    const back = gain(sender.address, asset);
    if (back < 0n) broken.push(`its sender has lost ${-back} ${asset}`);
    const moved = gain(elsewhere.address, asset);
    if (moved > approved[asset]) {
      broken.push(`${moved} ${asset} went elsewhere, and ${approved[asset]} were approved`);
    }
  }
  const swapped = gain(sender.address, "USDC");
  if (swap !== null && swapped !== 0n && swapped !== swap.gets) {
    broken.push(`the swap was promised ${swap.gets} and got ${swapped} USDC`);
  }
  return broken;
}

/** What it says of itself is what has happened. */
export function brokenStory(
  { gain, past }: Books,
  order: LivedOrder,
  shown: TransactionBody,
): readonly string[] {
  if (!OVER.has(shown.status)) return [];
  // A forged marker of which no node has the history is told by its length.
  if (order.forged.size > 0 && past.wasPruned) return [];
  const broken: string[] = [];
  const { words, payees, swap, sender } = order;
  const paid =
    swap === null
      ? payees.map(({ wallet }) => gain(wallet.address, words.asset))
      : [gain(sender.address, "USDC")];
  for (const [index, got] of paid.entries()) {
    const said = shown.recipients[index]?.status;
    if ((said === "paid") !== got > 0n) broken.push(`recipient ${index} is ${said} and got ${got}`);
    if (shown.status === "completed" && got === 0n) broken.push(`it is completed without recipient ${index}`);
  }
  const isPaid = paid.length > 0 && paid.every((got) => got > 0n);
  // Of two copies one may have ended what the other one paid then.
  const mayDiffer = past.hadCopies || past.wasRestored;
  if (isPaid && shown.status !== "completed" && !mayDiffer) {
    broken.push(`it is ${shown.status} with everybody paid`);
  }
  return broken;
}

/** Least and most of the fee that its first marker may have taken. */
export function feesOf({ marker }: Books, order: LivedOrder, asset: Asset): readonly [bigint, bigint] {
  const length = marker(order, "0");
  if (asset !== order.words.asset || length === null || length === 1 || order.forged.has(0)) return [0n, 0n];
  return [length === 0 ? order.fee : 0n, order.fee];
}

/** Of an address that has come to rest: the fee and what refunds cost is kept, and nothing is left but dust. */
function brokenKeeping(books: Books, order: LivedOrder, asset: Asset): readonly string[] {
  const { has, past } = books;
  const [least, most] = feesOf(books, order, asset);
  const cost = refundCost(books, asset);
  const left = has(order.address, asset);
  const kept = keptOf(books, order, asset);
  const told = `${order.sent[asset]} ${asset} came, ${left} are left, ${kept} were kept for ${most}`;
  const broken: string[] = [];
  // Less than a refund costs is not worth one.
  if (left > cost) broken.push(`${told}: nobody refunds what is left`);
  // Lamports come along with what opened token accounts, and a loan may go to the sender where its giver's history is lost.
  const rents = past.dearestByte * (6n * TOKEN_ACCOUNT_BYTES + 4n * EMPTY_ACCOUNT_BYTES);
  const beside = asset === "SOL" ? rents + order.wrapped : 0n;
  if (kept < least - beside) broken.push(`${told}: that is less than the fee`);
  if (kept > most + refundsOf(order) * cost) broken.push(`${told}: that is too much`);
  return broken;
}

/** So many refunds at most: each deposit, each of a stranger's gifts and each approval may be followed by one. */
function refundsOf({ refundable }: LivedOrder): bigint {
  return 2n + BigInt(refundable);
}

/** What a refund holds back at most, in base units: its fees, the markers of a no-go or of a go that leaves some out, two accounts. */
function refundCost({ past: { dearestByte } }: Books, asset: Asset): bigint {
  const lamports = NETWORK_FEES + dearestByte * (MARKERS_BYTES + 2n * TOKEN_ACCOUNT_BYTES);
  // A SOL is 150 dollars; costs are rounded up.
  return asset === "SOL" ? lamports : (lamports * 150n + 999n) / 1_000n;
}
