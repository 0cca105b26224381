/** Checks that recipients can be paid: the chain itself takes money for addresses that no key can spend from. */
import { parseAddress, type Address } from "../../address.ts";
import { parseAmount, type AmountFault } from "../../amount.ts";
import { PaymentError, type ErrorDetails, fieldError } from "../../errors.ts";
import { isTurnOver, nextTurn } from "../../runtime.ts";
import type { AccountKind, Ledger, Transfer } from "../../ledger/ledger.ts";

/** A recipient as the request has it. */
interface PutativeRecipient {
  readonly address: string;
  readonly amount: string;
}

const AMOUNT_MESSAGES: Readonly<Record<AmountFault, string>> = {
  not_decimal: 'expected a decimal string such as "12.5"',
  zero: "expected more than zero",
  too_many_decimals: "has more decimals than the asset",
  too_large: "is more than the ledger can hold",
};

/** Reads an amount or throws `VALIDATION_ERROR` for `path`. */
export function readAmount(putativeAmount: string, decimals: number, path: string): bigint {
  const read = parseAmount(putativeAmount, decimals);
  if ("amount" in read) return read.amount;
  throw fieldError(path, AMOUNT_MESSAGES[read.fault]);
}

/** Addresses that are well formed and differ; throws `INVALID_RECIPIENT` with the index of the first that is not. */
function readAddresses(recipients: readonly PutativeRecipient[]): readonly Address[] {
  const seen = new Set<string>();
  return recipients.map(({ address: putativeAddress }, index) => {
    const parsed = parseAddress(putativeAddress);
    if ("fault" in parsed) throw invalidRecipient(index, putativeAddress, parsed.fault);
    if (seen.has(parsed.address)) throw invalidRecipient(index, putativeAddress, "duplicate");
    seen.add(parsed.address);
    return parsed.address;
  });
}

/** Addresses with their amounts in base units. */
export function readTransfers(
  recipients: readonly PutativeRecipient[],
  decimals: number,
): readonly Transfer[] {
  const amounts = recipients.map(({ amount }, index) =>
    readAmount(amount, decimals, `recipients.${index}.amount`),
  );
  return readAddresses(recipients).map((recipient, index) => ({ recipient, amount: amounts[index] ?? 0n }));
}

const UNPAYABLE: Readonly<Partial<Record<AccountKind, ErrorDetails["INVALID_RECIPIENT"]["reason"]>>> = {
  token_account: "token_account",
  mint: "mint",
  program: "program",
  // Data of some program: money paid to such an account belongs to the program, or is lost.
  other: "program",
};

/** Throws `INVALID_RECIPIENT` for the first recipient that the chain knows to be something else than a wallet. */
export async function checkRecipientsOnChain(ledger: Ledger, recipients: readonly Address[]): Promise<void> {
  const kinds = await ledger.accountKinds(recipients);
  for (const [index, address] of recipients.entries()) {
    const kind: AccountKind = kinds[index] ?? "absent";
    const reason = UNPAYABLE[kind];
    if (reason !== undefined) throw invalidRecipient(index, address, reason);
    if (!ledger.isOnCurve(address)) throw invalidRecipient(index, address, "off_curve");
    // Half a millisecond each.
    if (isTurnOver()) await nextTurn();
  }
}

/** The refusal of one recipient. */
export function invalidRecipient(
  index: number,
  address: string,
  reason: ErrorDetails["INVALID_RECIPIENT"]["reason"],
): PaymentError<"INVALID_RECIPIENT"> {
  return new PaymentError("INVALID_RECIPIENT", { index, address, reason });
}
