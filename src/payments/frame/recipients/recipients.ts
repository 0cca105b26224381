/** Whether recipients can be paid, as the chain tells, and whether parties are served, as the host's own check does. */
import { parseAddress, type Address } from "../../../core/address.ts";
import { parseAmount, type AmountFault } from "../../../core/amount.ts";
import { PaymentError, type ErrorDetails, fieldError } from "../../../errors/errors.ts";
import { isTurnOver, nextTurn } from "../../../core/runtime.ts";
import type { Evidence } from "../../../ledger/belief.ts";
import type { AccountKind, Ledger, Transfer } from "../../../ledger/ledger.ts";
import { TOKEN_PROGRAMS } from "../../../ledger/routing.ts";
import type { Assets } from "../assets/assets.ts";

interface PutativeRecipient {
  readonly address: string;
  readonly amount: string;
  readonly allowOffCurve: boolean;
}

/** An owner who is to be paid. */
export interface Payee {
  readonly recipient: Address;
  /** Whether the caller means an address that no private key signs for, such as the vault of a multisig. */
  readonly allowOffCurve: boolean;
}

/** The declared share of a payee. */
export interface PayeeTransfer extends Payee, Transfer {}

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
): readonly PayeeTransfer[] {
  const amounts = recipients.map(({ amount }, index) =>
    readAmount(amount, decimals, `recipients.${index}.amount`),
  );
  return readAddresses(recipients).map((recipient, index) => ({
    recipient,
    amount: amounts[index] ?? 0n,
    allowOffCurve: recipients[index]?.allowOffCurve === true,
  }));
}

export type RecipientFault = ErrorDetails["INVALID_RECIPIENT"]["reason"];

const UNPAYABLE: Readonly<Partial<Record<AccountKind, RecipientFault>>> = {
  token_account: "token_account",
  mint: "mint",
  program: "program",
  // Data of some program: money paid to such an account belongs to the program, or is lost.
  other: "program",
};

interface PayeeCheckParts {
  readonly ledger: Pick<Ledger, "accountKinds" | "isOnCurve" | "tokenAccountOf">;
  readonly assets: Pick<Assets, "tokens">;
}

/** A payee by its place in the list, and why it cannot be paid. */
interface UnpayablePayee {
  readonly index: number;
  readonly reason: RecipientFault;
}

/**
 * The first payee that is no wallet, as the chain tells, and null where all can be paid. No payee may be a token account of
 * `parties`, also where it is not made yet: nobody could move what it owns.
 */
export async function firstUnpayable(
  parts: PayeeCheckParts,
  payees: readonly Payee[],
  parties: readonly Address[],
): Promise<UnpayablePayee | null> {
  const kinds = await parts.ledger.accountKinds(payees.map(({ recipient }) => recipient));
  return unpayableAmong(parts, { payees, kinds }, parties);
}

/** Payees whose accounts were read. */
interface ReadPayees {
  readonly payees: readonly Payee[];
  /** In the same order. */
  readonly kinds: Evidence<readonly AccountKind[]>;
}

async function unpayableAmong(
  { ledger, assets }: PayeeCheckParts,
  { payees, kinds }: ReadPayees,
  parties: readonly Address[],
): Promise<UnpayablePayee | null> {
  let accounts: ReadonlySet<Address> | null = null;
  for (const [index, { recipient, allowOffCurve }] of payees.entries()) {
    const kind: AccountKind = kinds[index] ?? "absent";
    const reason = UNPAYABLE[kind];
    if (reason !== undefined) return { index, reason };
    if (!ledger.isOnCurve(recipient)) {
      if (!allowOffCurve) return { index, reason: "off_curve" };
      accounts ??= await tokenAccountsOf({ ledger, assets }, parties);
      if (accounts.has(recipient)) return { index, reason: "token_account" };
    }
    // Half a millisecond each.
    if (isTurnOver()) await nextTurn();
  }
  return null;
}

/** Throws `INVALID_RECIPIENT` for the first of the payees whom the sender cannot pay. */
export async function checkPayees(
  parts: PayeeCheckParts,
  payees: readonly Payee[],
  sender: Address | null,
): Promise<void> {
  const recipients = payees.map(({ recipient }) => recipient);
  await checkReadPayees(parts, { payees, kinds: await parts.ledger.accountKinds(recipients) }, sender);
}

/** See `checkPayees`, for payees whose accounts were read. */
export async function checkReadPayees(
  parts: PayeeCheckParts,
  read: ReadPayees,
  sender: Address | null,
): Promise<void> {
  const recipients = read.payees.map(({ recipient }) => recipient);
  const parties = sender === null ? recipients : [...recipients, sender];
  const fault = await unpayableAmong(parts, read, parties);
  if (fault !== null) throw invalidRecipient(fault.index, recipients[fault.index] ?? "", fault.reason);
}

/** Throws `INVALID_RECIPIENT` for an address that is no wallet. */
export async function checkWallet(ledger: PayeeCheckParts["ledger"], address: Address): Promise<void> {
  await checkPayees({ ledger, assets: { tokens: [] } }, [{ recipient: address, allowOffCurve: false }], null);
}

/** Every associated account of the service's assets, of both token programs. */
async function tokenAccountsOf(
  { ledger, assets }: PayeeCheckParts,
  owners: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const accounts = new Set<Address>();
  for (const owner of owners) {
    for (const { mint } of assets.tokens) {
      for (const program of TOKEN_PROGRAMS) accounts.add(ledger.tokenAccountOf(owner, mint, program));
    }
    // A third of a millisecond for each account.
    if (isTurnOver()) await nextTurn();
  }
  return accounts;
}

export function invalidRecipient(
  index: number,
  address: string,
  reason: RecipientFault,
): PaymentError<"INVALID_RECIPIENT"> {
  return new PaymentError("INVALID_RECIPIENT", { index, address, reason });
}

/**
 * Whether an address may be served, such as a sanctions list's answer. Throw when the answer is not known now: no order
 * is taken then, and a deposit waits. While there is no order an answer is kept for ten minutes. `signal` is aborted when the
 * answer is no longer awaited.
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
 * Throws for the first of sender and recipients that is refused, with the reason `not_served`: `VALIDATION_ERROR` for the
 * sender, `INVALID_RECIPIENT` for a recipient. `ROUTING_UNAVAILABLE` when the host cannot tell now.
 */
export async function screenParties(
  screen: ScreenAddress | null,
  sender: string | null,
  recipients: readonly string[],
): Promise<void> {
  if (screen === null) return;
  const parties = [
    ...(sender === null ? [] : [{ address: sender, role: "sender" as const }]),
    ...recipients.map((address) => ({ address, role: "recipient" as const })),
  ];
  const [first] = await refusedAmong(screen, parties, null).catch((cause: unknown) => {
    throw new PaymentError(
      "ROUTING_UNAVAILABLE",
      { reason: "upstream", retryAfter: RETRY_SECONDS },
      { cause },
    );
  });
  if (first === undefined) return;
  const { role, address } = first;
  if (role === "sender") throw fieldError("sender", "this address is not served", "not_served");
  throw invalidRecipient(recipients.indexOf(address), address, "not_served");
}
