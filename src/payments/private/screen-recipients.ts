/** Screens the recipients of a private order once more when they are to be paid. */
import { type ScreenAddress, refusedAmong, SCREENING } from "../recipients/recipients.ts";
import { commitOne } from "../../../storage/decided.ts";
import { holdWrites } from "../outgoing/unknown-spending.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import type { OrderRouting } from "../outgoing/planned-payment.ts";

/**
 * Days may lie between an order and its deposit, so the recipients are screened once more when they are to be paid. Resolves
 * when no recipient who is still to be paid is refused. Otherwise it holds the order's deposit address and rejects, so
 * that nothing is planned until an operator has decided; what an operator has released is not held again for the same
 * recipients. Rejects too while the address is held, and when the host cannot tell.
 */
type ScreenRecipientsAgain = (transactionId: string) => Promise<void>;

/** Does nothing when the host does not screen. */
export function recipientsScreening({
  storage,
  screen,
}: {
  readonly storage: PaymentStorage;
  readonly screen: ScreenAddress | null;
}): ScreenRecipientsAgain {
  return async (transactionId) => {
    if (screen === null) return;
    const view = await storage.transaction(transactionId);
    const [deposit] = await storage.deposits([view?.transaction.depositAddress ?? ""]);
    if (view === null || deposit === undefined) throw new Error(`order ${transactionId} is not stored`);
    if (deposit.heldReason !== null) {
      throw new Error(`deposit address ${deposit.id} is held: ${deposit.heldReason}`);
    }
    const toPay = view.recipients
      .filter(({ status }) => status !== "paid")
      .map(({ index, address }) => ({ index, address, role: "recipient" as const }));
    const refused = await refusedAmong(screen, toPay, transactionId);
    const facts = refused.map(({ index }) => `refused recipient:${transactionId}:${index}`);
    const known = await Promise.all(facts.map((id) => storage.fact(id)));
    const unknown = facts.filter((_, position) => known[position] === null);
    // The address is not held any more, so an operator has seen these and released them.
    if (unknown.length === 0) return;
    // In one commit: a hold without the fact would come back after every release, a fact without the hold would pay.
    const writes: PaymentWrite[] = [
      ...holdWrites(deposit, SCREENING),
      ...unknown.map((id): PaymentWrite => ({
        table: "facts",
        insert: { id, value: deposit.id },
      })),
    ];
    await commitOne(storage, { writes });
    throw new Error(`deposit address ${deposit.id} is held: a recipient of ${transactionId} is refused`);
  };
}

/** Routing that screens recipients again before it plans payouts. */
export function screenedRouting(routing: OrderRouting, screenAgain: ScreenRecipientsAgain): OrderRouting {
  return {
    async route(transactionId) {
      await screenAgain(transactionId);
      return routing.route(transactionId);
    },
    async reroute(transactionId, payment, fault) {
      await screenAgain(transactionId);
      return routing.reroute(transactionId, payment, fault);
    },
  };
}
