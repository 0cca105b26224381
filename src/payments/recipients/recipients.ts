/** Whether recipients can be paid, as the chain tells, and whether parties are served, as the host's own check does. */
import { parseAddress, type Address } from "../../address.ts";
import { parseAmount, type AmountFault } from "../../amount.ts";
import { PaymentError, type ErrorDetails, fieldError } from "../../errors.ts";
import { isTurnOver, nextTurn } from "../../runtime.ts";
import type { AccountKind, Ledger, Transfer } from "../../ledger/ledger.ts";

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

export function invalidRecipient(
  index: number,
  address: string,
  reason: ErrorDetails["INVALID_RECIPIENT"]["reason"],
): PaymentError<"INVALID_RECIPIENT"> {
  return new PaymentError("INVALID_RECIPIENT", { index, address, reason });
}

/**
 * Whether an address may be served, such as a sanctions list's answer. Throw when the answer is not known now: no order
 * is taken then, and a deposit waits. `signal` is aborted when the answer is no longer awaited.
 */
export type ScreenAddress = (
  address: string,
  as: {
    readonly role: "sender" | "recipient" | "depositor";
    /** Null before there is one: while an order is being taken. */
    readonly transactionId: string | null;
  },
  signal?: AbortSignal,
) => Promise<"ok" | "refused">;

/** The reason why an address is held when a party is refused, or when not all payers are known. */
export const SCREENING = "screening";

/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;
/** A payroll has hundreds of recipients, and each answer may take a call to another service. */
const ASKED_AT_ONCE = 8;

export interface ScreenedAddress {
  readonly address: string;
  readonly role: Parameters<ScreenAddress>[1]["role"];
}

/** Filters the refused parties, in the order given. Rejects when the host cannot tell about a party. */
export async function refusedAmong<Party extends ScreenedAddress>(
  screen: ScreenAddress,
  parties: readonly Party[],
  transactionId: string | null,
): Promise<readonly Party[]> {
  const refused: Party[] = [];
  for (let start = 0; start < parties.length; start += ASKED_AT_ONCE) {
    const batch = parties.slice(start, start + ASKED_AT_ONCE);
    const verdicts = await Promise.all(
      batch.map(({ address, role }) => screen(address, { role, transactionId })),
    );
    refused.push(...batch.filter((_, index) => verdicts[index] !== "ok"));
  }
  return refused;
}

/**
 * Throws `VALIDATION_ERROR` for the first of sender and recipients that is refused: it names the field, and no reason.
 * `ROUTING_UNAVAILABLE` when the host cannot tell now.
 */
export async function screenParties(
  screen: ScreenAddress | null,
  sender: string,
  recipients: readonly string[],
): Promise<void> {
  if (screen === null) return;
  const parties = [
    { path: "sender", address: sender, role: "sender" as const },
    ...recipients.map((address, index) => ({
      path: `recipients.${index}.address`,
      address,
      role: "recipient" as const,
    })),
  ];
  const [first] = await refusedAmong(screen, parties, null).catch((cause: unknown) => {
    throw new PaymentError(
      "ROUTING_UNAVAILABLE",
      { reason: "upstream", retryAfter: RETRY_SECONDS },
      { cause },
    );
  });
  if (first === undefined) return;
  throw fieldError(first.path, "this address is not served");
}
