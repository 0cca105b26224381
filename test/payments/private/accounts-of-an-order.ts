/** The books of one order: whom it paid, what went back, what was kept, and whether it says the same of itself. */
import type { TransactionBody } from "../../../src/payments/transactions/transaction-schema.ts";
import type { Books } from "./books.ts";
import { stateAt } from "./come-to-rest.ts";
import type { LivedOrder } from "./lived-order.ts";
import { ASSETS, type Asset } from "./random-life.ts";

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);
/** An account is paid for as if it were so much longer than its data. */
const EMPTY_ACCOUNT_BYTES = 128n;
const TOKEN_ACCOUNT_BYTES = EMPTY_ACCOUNT_BYTES + 165n;
/** One for a payout and one for each of a few refunds. */
const MAX_LOST_LOANS = 4n;
/** What a refund and the sweep after it cost without a bid: two signatures each. */
const NETWORK_FEES = 20_000n;
/** What a refund may bid at most, and more than both bid at the floor, in lamports. */
const HIGHEST_BID = 50_000n;
const LEAST_BIDS = 500n;

/** One sentence for each thing that does not add up, where no database believed what is not so. */
export async function brokenOrder(books: Books, order: LivedOrder): Promise<readonly string[]> {
  const { storage, service, caller } = books;
  const view = await storage.transaction(order.id);
  const broken = brokenAmounts(books, order);
  if (order.heldFor !== null && !mayBeHeld(books, order)) {
    broken.push(`it was held for ${order.heldFor}, and nothing was wrong with it`);
  }
  // An older database may have been put in its place that has never heard of it: its address is as it was left.
  if (view !== null) {
    const shown = await service.transaction(caller, order.id);
    const [deposit] = await storage.deposits([order.address]);
    const state = await stateAt(storage, order.address);
    broken.push(...brokenStory(books, order, shown));
    const isHeld = deposit?.heldReason !== null;
    if (isHeld && !mayBeHeld(books, order)) {
      broken.push(`it is held for ${String(deposit?.heldReason)}, and nothing is wrong with it`);
    }
    if (!isHeld && !(state !== "closed" && isSenderFrozen(order))) {
      if (state !== "closed") broken.push(`its address is ${String(state)} at the end`);
      if (!OVER.has(shown.status)) broken.push(`it ends as ${shown.status}`);
      for (const asset of ASSETS) broken.push(...(await brokenKeeping(books, order, asset)));
    }
  }
  return broken.map((sentence) => `order ${order.id}: ${sentence}`);
}

/** Whether a refund can fail for ever: what comes to a frozen account. */
export function isSenderFrozen({ words: { sender, asset }, sent }: LivedOrder): boolean {
  return sender === "frozen" && asset !== "SOL" && sent[asset] > 0n;
}

/** Whether an order may wait for a person: what strangers do is no reason. */
export function mayBeHeld({ past }: Books, order: LivedOrder): boolean {
  const isOrdersOwn = isSenderFrozen(order) || order.hasRefusedPayer || order.redirected !== null;
  return isOrdersOwn || past.wasRestored || past.wasPruned;
}

/** What all recipients of an order have got of an asset. */
export function paidOf({ gain }: Books, { payees }: LivedOrder, asset: Asset): bigint {
  return payees.reduce((sum, { wallet }) => sum + gain(wallet.address, asset), 0n);
}

/** What has become neither payout nor refund nor swap, and is not at the address any more: the treasury must have it. */
export function keptOf(books: Books, order: LivedOrder, asset: Asset): bigint {
  const { gain, has } = books;
  const { sent, sender, elsewhere, address } = order;
  const back = gain(sender.address, asset) + gain(elsewhere.address, asset);
  return (
    sent[asset] - paidOf(books, order, asset) - back - has(address, asset) - givenToDesk(books, order, asset)
  );
}

/** What the desk has got of it; less than nothing for what it has given. */
export function givenToDesk({ gain }: Books, { swap, sender }: LivedOrder, asset: Asset): bigint {
  if (swap === null || gain(sender.address, "USDC") === 0n) return 0n;
  return { SOL: swap.gives, USDC: -swap.gets, USDT: 0n }[asset];
}

/** Whoever is paid, is paid exactly and once; nobody who takes part pays for it, and nobody else gets what was not approved. */
export function brokenAmounts({ gain }: Books, order: LivedOrder): string[] {
  const { words, payees, sender, elsewhere, redirected, swap } = order;
  const broken: string[] = [];
  for (const asset of ASSETS) {
    for (const [index, { wallet, amount }] of payees.entries()) {
      const got = gain(wallet.address, asset);
      if (got === 0n || (asset === words.asset && got === amount)) continue;
      broken.push(`recipient ${index} is due ${amount} ${words.asset} and got ${got} ${asset}`);
    }
    const back = gain(sender.address, asset);
    if (back < 0n) broken.push(`its sender has lost ${-back} ${asset}`);
    const [moved, approved] = [gain(elsewhere.address, asset), redirected?.[asset] ?? 0n];
    if (moved > approved) broken.push(`${moved} ${asset} went elsewhere, and ${approved} were approved`);
  }
  const swapped = gain(sender.address, "USDC");
  if (swap !== null && swapped !== 0n && swapped !== swap.gets) {
    broken.push(`the swap was promised ${swap.gets} and got ${swapped} USDC`);
  }
  return broken;
}

/** What it says of itself is what has happened. */
export function brokenStory({ gain }: Books, order: LivedOrder, shown: TransactionBody): readonly string[] {
  if (!OVER.has(shown.status)) return [];
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
  return broken;
}

/** Of an address that has come to rest: the fee and what refunds cost is kept, and nothing is left but dust. */
async function brokenKeeping(books: Books, order: LivedOrder, asset: Asset): Promise<readonly string[]> {
  const { storage, nameOf, has, past } = books;
  const { wasRestored, dearestByte } = past;
  const payments = (await storage.transaction(order.id))?.payments ?? [];
  const refunds = payments.filter(
    ({ kind, status, mint }) => kind === "refund" && status === "finalized" && mint === nameOf(asset),
  );
  const isServed = paidOf(books, order, asset) > 0n || givenToDesk(books, order, asset) > 0n;
  const due = asset === order.words.asset && isServed ? order.fee : 0n;
  const [least, most] = refundCost(books, order, asset);
  const made = BigInt(refunds.length);
  const left = has(order.address, asset);
  const kept = keptOf(books, order, asset);
  const told = `${order.sent[asset]} ${asset} came, ${left} are left, ${kept} were kept for ${due} and ${made} refunds`;
  const broken: string[] = [];
  // Less than a refund costs is not worth one. A copy from before the sweep does not know that the fee was taken already.
  if (left > most + (wasRestored ? due : 0n)) broken.push(`${told}: nobody refunds what is left`);
  // Another self of the database may have made refunds that nobody knows of here, and its loans are refunded with the rest.
  if (wasRestored) {
    const loans = asset === "SOL" ? MAX_LOST_LOANS * dearestByte * EMPTY_ACCOUNT_BYTES : 0n;
    if (kept + left < due - loans) broken.push(`${told}: that is less than the fee`);
    return broken;
  }
  if (kept > due + (made + 1n) * most) broken.push(`${told}: that is too much`);
  const charged = (await storage.entries(order.address))
    .filter(({ kind, mint }) => kind === "fee" && mint === nameOf(asset))
    .reduce((sum, { amount }) => sum + amount, 0n);
  if (charged < due + made * least || charged > due + made * most) {
    broken.push(`${told}: and ${charged} are on record as fee`);
  }
  return broken;
}

/**
 * What a refund holds back, in base units: the signatures of two transactions and the most that it may bid; and at most besides
 * the least bids of both, and an account should the sender need one.
 */
function refundCost(
  { past: { dearestByte } }: Books,
  { words }: LivedOrder,
  asset: Asset,
): readonly [bigint, bigint] {
  // A SOL is 150 dollars; costs are rounded up.
  const worth = (lamports: bigint): bigint =>
    asset === "SOL" ? lamports : (lamports * 150n + 999n) / 1_000n;
  const rent = asset !== "SOL" && words.sender === "withoutTokens" ? dearestByte * TOKEN_ACCOUNT_BYTES : 0n;
  const least = NETWORK_FEES + HIGHEST_BID;
  return [worth(least), worth(least + LEAST_BIDS + rent)];
}
