/** Checks sender and recipients of a private order when it is taken, and screens recipients once more when they are to be paid. */
import type { Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError, fieldError } from "../../errors.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import type { CheckedRequest } from "../quotes/checked-request.ts";
import {
  checkRecipientsOnChain,
  invalidRecipient,
  screenParties,
  type ScreenAddress,
  refusedAmong,
  SCREENING,
} from "../recipients/recipients.ts";
import type { ServiceContext } from "../service-context.ts";
import { commitOne } from "../../../storage/decided.ts";
import type { PaymentStorage, PaymentWrite } from "../payment-storage.ts";
import { holdWrites } from "../outgoing/unknown-spending.ts";
import type { OrderRouting } from "../outgoing/planned-payment.ts";

interface OrderPartiesParts extends Pick<ServiceContext, "storage" | "ledger" | "assets"> {
  /** Sponsor, treasury and desk. */
  readonly ownWallets: readonly Address[];
  readonly screen: ScreenAddress | null;
}

/** Throws what is wrong with a party of the order: `INVALID_RECIPIENT`, `VALIDATION_ERROR` or `AMOUNT_TOO_SMALL`. */
export async function checkOrderParties(
  parts: OrderPartiesParts,
  { quote, declared }: CheckedRequest,
): Promise<void> {
  const { ledger, assets, screen } = parts;
  const { sender, transfers } = declared;
  const recipients = transfers.map(({ recipient }) => recipient);
  await refuseOwnAddresses(parts, sender, recipients);
  await checkRecipientsOnChain(ledger, recipients);
  await checkSender(parts, sender);
  await checkSmallest(parts, assets.named(quote.outputMint), transfers);
  await screenParties(screen, sender, recipients);
}

/** Money that the service sent to itself would go round without an end. */
async function refuseOwnAddresses(
  { storage, ownWallets }: OrderPartiesParts,
  sender: string,
  recipients: readonly string[],
): Promise<void> {
  const ours = new Set<string>(ownWallets);
  for (const { id } of await storage.deposits([...recipients, sender])) ours.add(id);
  recipients.forEach((address, index) => {
    if (ours.has(address)) throw invalidRecipient(index, address, "own_address");
  });
  if (ours.has(sender)) throw badSender("it is one of the service's own addresses");
}

/** Refunds go to the sender, so it must be payable like any recipient. */
async function checkSender({ ledger }: OrderPartiesParts, sender: Address): Promise<void> {
  try {
    await checkRecipientsOnChain(ledger, [sender]);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw badSender("refunds go there, and it is no wallet that could take them");
  }
}

/** A wallet that holds nothing can only be paid the rent minimum or more. */
async function checkSmallest(
  { ledger }: OrderPartiesParts,
  asset: Token,
  transfers: CheckedRequest["declared"]["transfers"],
): Promise<void> {
  if (ledgerMint(asset) !== null) return;
  const recipients = transfers.map(({ recipient }) => recipient);
  const [minimum, { funds }] = await Promise.all([
    ledger.rentMinimum(0),
    ledger.funds(recipients, [], "confirmed"),
  ]);
  const index = transfers.findIndex(
    ({ amount }, position) => (funds[position]?.lamports ?? 0n) + amount < minimum,
  );
  if (index < 0) return;
  throw new PaymentError("AMOUNT_TOO_SMALL", { minimum: formatAmount(minimum, asset.decimals), index });
}

function badSender(message: string): PaymentError {
  return fieldError("sender", message);
}

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
