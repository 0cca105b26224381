/** The transactions of the order that may land now. Whatever was ever permitted to anybody is permitted for ever. */
import type { Order } from "./order.ts";
import { nameOf, type Payout, type Slot } from "./payouts.ts";
import { type Chain, hasBit, NONE, withPlace } from "./state.ts";

/** A transaction and the chain that it leaves. */
export interface Landing {
  readonly act: string;
  readonly chain: Chain;
}

/** All that may land on a chain that is final; `isGivenUp`: somebody takes all chunks for decided. */
export function* landings(order: Order, chain: Chain, isGivenUp: boolean): Generator<Landing> {
  for (const cut of order.cuts) for (const slot of cut) yield* chunks(order, chain, { slot, cut });
  const isDecided = order.isDecided(chain);
  const isBelieved = !order.has("K10: one liar is not believed");
  if (isDecided || isGivenUp || isBelieved || !order.has("K7: rests wait until all is decided")) {
    yield* rests(chain);
  }
  if (!isDecided) return;
  if (!order.has("K5: the fee goes with chunk 0")) yield* feeByRest(chain);
  yield* redirects(order, chain);
  if (!order.has("K1: nothing closes a marker")) yield* closings(order, chain);
}

function* chunks(
  order: Order,
  chain: Chain,
  { slot, cut }: { readonly slot: Slot; readonly cut: readonly Slot[] },
): Generator<Landing> {
  if (order.payoutOf(chain, slot) !== null) return;
  const isGated =
    order.has("K6: later chunks wait for the final go") && order.has("K10: one liar is not believed");
  if (slot.chunk > 0 && isGated && !order.goes(chain, cut)) return;
  const unpayable = order.scenario.unpayable ?? [];
  for (const payout of slot.payouts.values()) {
    const canLand = !(payout.hasFee && unpayable.includes("the treasury"));
    if (!canLand || payout.recipients.some((recipient) => unpayable.includes(recipient))) continue;
    const paid = afterPayout(order, chain, { slot, payout });
    const ofCut = order.cuts.length > 1 ? ` of cut ${order.cuts.indexOf(cut)}` : "";
    if (paid.balance >= 0) yield { act: `chunk ${slot.chunk}${ofCut} pays ${nameOf(payout)}`, chain: paid };
  }
}

function afterPayout(
  order: Order,
  chain: Chain,
  { slot, payout }: { readonly slot: Slot; readonly payout: Payout },
): Chain {
  const { recipients, hasFee, length } = payout;
  const isBought = order.has("K2: the rent goes in the same transaction");
  return {
    ...chain,
    markers: isBought ? withPlace(chain.markers, slot.place, length) : chain.markers,
    balance: chain.balance - recipients.length - (hasFee ? 1 : 0),
    paid: chain.paid.map((times, recipient) => times + (recipients.includes(recipient) ? 1 : 0)),
    fees: chain.fees + (hasFee ? 1 : 0),
  };
}

/** Any sum may be what a rest's reading said. */
function* rests(chain: Chain): Generator<Landing> {
  for (let sum = 1; sum <= chain.balance; sum += 1) {
    const rested = { ...chain, balance: chain.balance - sum, toSender: chain.toSender + sum };
    yield { act: `a rest gives ${sum} to the sender`, chain: rested };
  }
}

function* feeByRest(chain: Chain): Generator<Landing> {
  if (chain.balance === 0 || !chain.paid.some((times) => times > 0)) return;
  yield {
    act: "a rest takes the fee",
    chain: { ...chain, balance: chain.balance - 1, fees: chain.fees + 1 },
  };
}

function* redirects(order: Order, chain: Chain): Generator<Landing> {
  const hasMarker = order.has("K12: what goes elsewhere has a marker");
  const isFixed = order.has("K12: number and sum are fixed when approved");
  for (const approval of chain.approvals) {
    const redirect = isFixed ? approval.redirect : firstFree(chain);
    const sum = isFixed ? approval.sum : chain.balance;
    if (sum === 0 || sum > chain.balance || (hasMarker && hasBit(chain.redirects, redirect))) continue;
    const sent = {
      ...chain,
      balance: chain.balance - sum,
      elsewhere: chain.elsewhere + sum,
      redirects: hasMarker ? chain.redirects | (1 << redirect) : chain.redirects,
    };
    yield { act: `r${redirect} gives ${sum} to another address`, chain: sent };
  }
}

/** The lowest redirect whose marker does not stand. */
export function firstFree(chain: Chain): number {
  let redirect = 0;
  while (hasBit(chain.redirects, redirect)) redirect += 1;
  return redirect;
}

function* closings(order: Order, chain: Chain): Generator<Landing> {
  for (const slot of order.slots) {
    if (order.payoutOf(chain, slot) === null) continue;
    const closed = { ...chain, markers: withPlace(chain.markers, slot.place, NONE) };
    yield { act: `the marker of chunk ${slot.chunk} is closed`, chain: closed };
  }
}
