/** What holds in every state of the chain, whoever signs, steals, lies or forgets. */
import type { Order } from "./order.ts";
import { nameOfRecipient } from "./payouts.ts";
import { type Chain, hasBit, type World } from "./state.ts";

/** The first promise that a world breaks, or null. */
export function brokenPromise(order: Order, world: World): string | null {
  return brokenByTelling(order, world) ?? brokenOnChain(order, world.now);
}

function brokenByTelling(order: Order, { now, final, toldPaid, toldUnpaid }: World): string | null {
  for (const recipient of order.recipients) {
    const name = nameOfRecipient(recipient);
    const isPaid = (final.paid[recipient] ?? 0) > 0;
    if ((now.paid[recipient] ?? 0) > 1) return `${name} is paid once`;
    if (hasBit(toldUnpaid, recipient) && isPaid) return `${name}, who was told unpaid, is not paid`;
    if (now === final && hasBit(toldPaid, recipient) && !isPaid) return `${name}, who was told paid, is paid`;
  }
  return (toldPaid & toldUnpaid) === 0 ? null : "nobody is told paid and unpaid";
}

function brokenOnChain(order: Order, chain: Chain): string | null {
  const { deposits, recipients, cuts, scenario } = order;
  const came = deposits.slice(0, chain.deposits).reduce((sum, amount) => sum + amount, 0);
  const paid = recipients.reduce((sum, recipient) => sum + (chain.paid[recipient] ?? 0), 0);
  const gone = paid + chain.fees + chain.toSender + chain.elsewhere + chain.stolen;
  if (chain.fees > 1) return "the fee is taken once";
  if (chain.balance < 0 || came !== chain.balance + gone) return "all that came is there or went somewhere";
  if (paid > 0 && order.isRefused(chain, cuts[0] ?? [])) return "an order that is refused pays nobody";
  if (chain.elsewhere > chain.approved) return "no more goes elsewhere than was approved";
  if (paid === 0 && chain.fees > 0 && scenario.chunks.length === 1) {
    return "an order of one chunk that pays nobody takes no fee";
  }
  return null;
}
