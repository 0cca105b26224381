/** Checks sender and recipients of a private order against the service's own addresses and the chain. */
import type { Address } from "../../core/address.ts";
import { fieldError } from "../../errors/errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Assets, Token } from "../frame/assets/assets.ts";
import type { PrivateStorage } from "./private-storage.ts";
import { refuseLessThanRent } from "../frame/recipients/rent-checks.ts";
import {
  firstUnpayable,
  invalidRecipient,
  type Payee,
  type PayeeTransfer,
  type RecipientFault,
} from "../frame/recipients/recipients.ts";

interface OrderPartiesParts {
  readonly storage: Pick<PrivateStorage, "depositAddresses">;
  readonly ledger: Ledger;
  readonly assets: Assets;
  /** Sponsor, treasury and desk. */
  readonly ownAddresses: readonly Address[];
}

/** The parties of a private order. */
interface OrderParties {
  /** Refunds go to the sender, so it must be payable like any recipient. Null in a quote that leaves it open. */
  readonly sender: Payee | null;
  readonly transfers: readonly PayeeTransfer[];
  /** The amounts of the recipients. */
  readonly asset: Token;
}

/** Throws what is wrong with a party of the order: `INVALID_RECIPIENT`, `VALIDATION_ERROR` or `AMOUNT_TOO_SMALL`. */
export async function checkOrderParties(
  parts: OrderPartiesParts,
  { sender, transfers, asset }: OrderParties,
): Promise<void> {
  const payees = sender === null ? transfers : [...transfers, sender];
  const addresses = payees.map(({ recipient }) => recipient);
  const own = await firstOwn(parts, addresses);
  const fault = own ?? (await firstUnpayable(parts, payees, addresses));
  if (fault === null) return refuseLessThanRent(parts.ledger, asset, transfers);
  const { index, reason } = fault;
  if (index === transfers.length) throw fieldError("sender", senderMessage(reason));
  throw invalidRecipient(index, addresses[index] ?? "", reason);
}

function senderMessage(reason: RecipientFault): string {
  if (reason === "own_address") return "it is one of the service's own addresses";
  const message = "refunds go there, and it is no wallet that could take them";
  return reason === "off_curve" ? `${message}; of a vault say senderAllowOffCurve: true` : message;
}

/** Money that the service sent to itself would go round without an end. */
async function firstOwn(
  { storage, ownAddresses }: OrderPartiesParts,
  addresses: readonly Address[],
): Promise<{ readonly index: number; readonly reason: "own_address" } | null> {
  const ours = new Set<string>([...ownAddresses, ...(await storage.depositAddresses(addresses))]);
  const index = addresses.findIndex((address) => ours.has(address));
  return index < 0 ? null : { index, reason: "own_address" };
}
