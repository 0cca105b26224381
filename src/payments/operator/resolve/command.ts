/** Commands of an operator about a matter, and their results. */
import { z } from "zod";
import type { Address } from "../../../address.ts";
import type { PaymentWrite } from "../../payment-storage.ts";
import type { FoundMatter, MatterAction } from "../attention/matter.ts";
import type { ActContext } from "../../intake/rules.ts";
import type { SettledTransaction } from "../../wallet/settle-transaction.ts";

/** A command about a matter. */
export type ResolveCommand =
  /** A task is tried again at once. */
  | { readonly action: "retry" }
  /** A dead letter is removed, or what a webhook did not take is no matter any more. What waits for it waits for good. */
  | { readonly action: "drop" }
  /**
   * A deposit address may be signed for again: its order pays out, or its money goes back to the sender. The operator
   * vouches for all transactions that the address has signed, and for all payers so far.
   */
  | { readonly action: "release" }
  /**
   * Like `release`, but no recipient is paid: the money goes to this address, which the host's screening has to accept.
   */
  | { readonly action: "refundTo"; readonly address: string }
  /**
   * Nothing moves. A deposit address stays held, its matter is over, and the reservations of its order are released. An
   * unprovable transaction fails, on the operator's word that it never landed.
   */
  | { readonly action: "writeOff" }
  /** A transaction is settled by what the chain shows of this signature. */
  | { readonly action: "settle"; readonly signature: string };

/** The receiver as the confirming person knows it: the request may have changed since. */
export interface Approval {
  /** The receiver of the money. */
  readonly address: string;
}

/** The result of a command. */
export interface ResolveResult {
  /** The matter's id. */
  readonly id: string;
  readonly action: MatterAction | "returnTokens";
  /** `done`: decided; a service at work carries it out. `awaits_approval`: another actor has to confirm by `approve`. */
  readonly state: "done" | "awaits_approval";
  /** The receiver of the money, whom the second actor has to name; only for `awaits_approval`. */
  readonly address?: Address;
  /** The most that the second actor agrees to send, network costs included: whole units by mint. */
  readonly allowed?: Readonly<Record<string, string>>;
  readonly transactionId?: string;
}

export interface ResolveContext {
  readonly matter: FoundMatter;
  readonly by: ActContext;
  /** A guard in the commit: of concurrent decisions about one matter, only one succeeds. */
  readonly guard: PaymentWrite;
}

/** The schema of `resolve`'s command. */
export const resolveCommand: z.ZodType<ResolveCommand> = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("retry") }),
  z.strictObject({ action: z.literal("drop") }),
  z.strictObject({ action: z.literal("release") }),
  z.strictObject({ action: z.literal("refundTo"), address: z.string().min(1).max(64) }),
  z.strictObject({ action: z.literal("writeOff") }),
  z.strictObject({ action: z.literal("settle"), signature: z.string().min(1).max(128) }),
]);

/** A decision about a transaction of which the chain does not tell enough. */
interface Settling {
  readonly transactionId: string;
  /** Belong into the commit that settles it. */
  readonly writes: readonly PaymentWrite[];
}

/**
 * Settles a transaction by the evidence that the chain has of a signature. Throws `OperatorRefused` where the evidence is
 * not enough; then nothing is changed.
 */
type SettleWithEvidence = (
  settling: Settling & { readonly signature: string },
) => Promise<SettledTransaction>;

/** Fails a transaction on the operator's word that it never landed. Throws `OperatorRefused` where a node knows better. */
type WriteOffUnprovable = (settling: Settling) => Promise<void>;

export interface EvidenceControl {
  readonly settle: SettleWithEvidence;
  readonly writeOff: WriteOffUnprovable;
}
