/** Checks sender and recipients of a private order: all can be paid, are served, and are not the service itself. */
import type { Address } from "../../address.ts";
import { formatAmount } from "../../amount.ts";
import { PaymentError, fieldError } from "../../errors.ts";
import { ledgerMint, type Token } from "../assets/assets.ts";
import type { CheckedRequest } from "../quotes/checked-request.ts";
import { checkRecipientsOnChain, invalidRecipient } from "../recipients/recipients.ts";
import { screenParties, type ScreenAddress } from "../recipients/screening.ts";
import type { ServiceContext } from "../service-context.ts";

/** Dependencies of checking the parties of an order. */
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
