/** The host's own check of whom it serves, and how parties of an order are asked about before it is taken. */
import { PaymentError, fieldError } from "../../errors.ts";

/** The role in which an address is screened. */
export interface ScreeningRole {
  readonly role: "sender" | "recipient" | "depositor";
  /** Null before there is one: while an order is being taken. */
  readonly transactionId: string | null;
}

/**
 * Whether an address may be served, such as a sanctions list's answer. Throw when the answer is not known now: no order
 * is taken then, and a deposit waits. `signal` is aborted when the answer is no longer awaited.
 */
export type ScreenAddress = (
  address: string,
  as: ScreeningRole,
  signal?: AbortSignal,
) => Promise<"ok" | "refused">;

/** The reason why an address is held when a party is refused, or when not all payers are known. */
export const SCREENING = "screening";

/** Seconds after which ROUTING_UNAVAILABLE advises a retry. */
const RETRY_SECONDS = 30;
/** A payroll has hundreds of recipients, and each answer may take a call to another service. */
const ASKED_AT_ONCE = 8;

/** An address and its role. */
export interface ScreenedAddress {
  readonly address: string;
  readonly role: ScreeningRole["role"];
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
