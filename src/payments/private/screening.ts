/** The host's own check of whom it serves: asked before an order is taken, and of those who paid in before money moves. */
import type { Address } from "../../address.ts";
import { PaymentError } from "../../errors.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { ledgerMint } from "../assets.ts";
import type { Assets } from "../assets.ts";

/** In which part an address is looked at. */
export interface ScreenedAs {
  readonly role: "sender" | "recipient" | "depositor";
  /** Null before there is one: while an order is being taken. */
  readonly transactionId: string | null;
}

/**
 * Whether an address may be served, such as a sanctions list's answer. Throwing means that it cannot be told now: then no
 * order is taken, and a deposit waits.
 */
export type Screen = (address: string, as: ScreenedAs) => Promise<"ok" | "refused">;

/** What a held address says of itself when somebody who paid in is refused, or when it cannot be told who all paid in. */
export const SCREENING = "screening";

/** What ROUTING_UNAVAILABLE advises. */
const RETRY_SECONDS = 30;

/**
 * Throws `VALIDATION_ERROR` for the first of sender and recipients that is refused: it names the field, and no reason.
 * `ROUTING_UNAVAILABLE` when the host cannot tell now.
 */
export async function screenParties(
  screen: Screen | null,
  sender: string,
  recipients: readonly string[],
): Promise<void> {
  if (screen === null) return;
  const parties = [
    { path: "sender", address: sender, role: "sender" as const },
    ...recipients.map((address, index) => ({
      ...{ path: `recipients.${index}.address`, address, role: "recipient" as const },
    })),
  ];
  for (const { path, address, role } of parties) {
    const verdict = await screen(address, { role, transactionId: null }).catch((cause: unknown) => {
      throw new PaymentError(
        "ROUTING_UNAVAILABLE",
        { reason: "upstream", retryAfter: RETRY_SECONDS },
        { cause },
      );
    });
    if (verdict !== "ok") {
      throw new PaymentError("VALIDATION_ERROR", {
        fields: [{ path, message: "this address is not served" }],
      });
    }
  }
}

/** Whether everybody who paid in to a deposit address may be served. Rejects when that cannot be told now. */
export type ScreenPayers = (address: string, transactionId: string) => Promise<boolean>;

/** `ours` are addresses whose money is our own: the sponsor lends, and pays for collecting. */
export function payersScreening(
  {
    ledger,
    assets,
    screen,
  }: { readonly ledger: Ledger; readonly assets: Assets; readonly screen: Screen | null },
  ours: readonly string[],
): ScreenPayers {
  const mints = assets.tokens.map(ledgerMint).filter((mint) => mint !== null);
  return async (address, transactionId) => {
    if (screen === null) return true;
    const { addresses, isWhole } = await ledger.payersOf(address as Address, mints);
    // Who hides among a hundred transactions that bring nothing hides from an operator in vain.
    if (!isWhole) return false;
    for (const payer of addresses) {
      if (ours.includes(payer)) continue;
      if ((await screen(payer, { role: "depositor", transactionId })) !== "ok") return false;
    }
    return true;
  };
}
