/** Whether money of an order may go to somebody else than its sender. */
import { parseAddress, type Address } from "../../../core/address.ts";
import { isPaymentError } from "../../../errors/errors.ts";
import { checkWallet } from "../../frame/recipients/recipients.ts";
import { OperatorRefused } from "../../frame/acts/act.ts";
import type { OrderActParts } from "./acting.ts";

/**
 * The address of a wallet that is none of the service's, and that the host serves. Throws `OperatorRefused` for any other
 * text, and `LedgerUnavailable`.
 */
export async function checkReceiver(
  { storage, ledger, control }: OrderActParts,
  text: string,
  transactionId: string,
): Promise<Address> {
  const parsed = parseAddress(text);
  if ("fault" in parsed) throw new OperatorRefused(`address: ${text} is no address (${parsed.fault})`);
  const { address } = parsed;
  const own = [...control.ownAddresses, ...(await storage.depositAddresses([address]))];
  if (own.includes(address)) {
    throw new OperatorRefused(`address: ${address} is one of the service's own`);
  }
  await checkWallet(ledger, address).catch((error: unknown) => {
    if (!isPaymentError(error, "INVALID_RECIPIENT")) throw error;
    throw new OperatorRefused(`address: ${address} cannot be paid (${error.details.reason}): name a wallet`);
  });
  const { screen } = control;
  if (screen === null) return address;
  const verdict = await screen(address, { role: "recipient", transactionId }).catch((cause: unknown) => {
    throw new OperatorRefused(`address: the host's screening cannot tell about ${address} now`, { cause });
  });
  if (verdict !== "ok") throw new OperatorRefused(`address: the host's screening refuses ${address}`);
  return address;
}
