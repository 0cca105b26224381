/** Commands of an operator about a matter or an order, their results, and who carries out those about orders. */
import { z } from "zod";
import type { AnyWrite } from "../../../../storage/storage.ts";
import type { Address } from "../../../core/address.ts";
import type { ActRow, Waits } from "./act-row.ts";

/** A person's decision about a matter, or about an order of private mode. */
export type ResolveCommand =
  /** A task is tried again at once; what an order is to send is tried again, at what it and rent cost now. */
  | { readonly action: "retry" }
  /**
   * A dead letter is removed; a matter that asks for nothing more is over. Tasks behind a removed dead letter wait for good.
   */
  | { readonly action: "drop" }
  /** An unprovable transaction fails, on the operator's word that it never landed. */
  | { readonly action: "writeOff" }
  /** A transaction is settled by what the chain shows of this signature. */
  | { readonly action: "settle"; readonly signature: string }
  /** Nobody is paid and nothing goes back until `release`. A refusal of the whole order may still go on. */
  | { readonly action: "hold" }
  /** Every hold of the order ends. If one is of screening, all who have paid in so far stay released. */
  | { readonly action: "release" }
  /** The order is refused as a whole. A payment of it that is out may still land: then it goes on as paid. */
  | { readonly action: "decline" }
  /** The recipients of this group are given up. A payment of it that is out may still land: then they are paid. */
  | { readonly action: "foreclose"; readonly chunk: number }
  /** Undecided parts are given up as by `decline` or `foreclose`, and missing money is written off. */
  | { readonly action: "conclude" }
  /** The funds of an asset, the order's own by default, go to this address, which the host's screening must accept. */
  | { readonly action: "refundTo"; readonly address: string; readonly asset?: string | undefined }
  /** Money of the service's assets in other token accounts of the address is brought to where it counts. */
  | { readonly action: "collect" }
  /** Tokens of a mint that is none of the service's assets go to the sender, or to this address. */
  | { readonly action: "foreign"; readonly mint: string; readonly address?: string | undefined };

/** The commands about orders. */
export type OrderCommand = Exclude<ResolveCommand, { action: "drop" | "writeOff" | "settle" }>;

/** Commands about tasks and wallet transactions are none about orders. */
export function isOrderCommand(command: { readonly action: string }): command is OrderCommand {
  return !["drop", "writeOff", "settle"].includes(command.action);
}

/** The request as a second person has read it: the request may have changed since. */
export interface Approval {
  /** The receiver of the money, for a command that names one. */
  readonly address?: string | undefined;
}

/** The result of a command. */
export interface ResolveResult {
  /** The id that the command named. */
  readonly id: string;
  readonly action: ResolveCommand["action"];
  /** `done`: decided; a service at work carries it out. `awaits_approval`: it has to be confirmed by `approve`. */
  readonly state: "done" | "awaits_approval";
  /** The receiver of the money, whom the confirming person has to name; only for `awaits_approval`. */
  readonly address?: Address;
  /** The most that is sent, network costs included: whole units by asset, raw units by mint of a foreign one. */
  readonly allowed?: Readonly<Record<string, string>>;
  readonly transactionId?: string;
}

const address = z.string().min(1).max(64);

/** The schema of `resolve`'s command. */
export const resolveCommand: z.ZodType<ResolveCommand> = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal(["retry", "drop", "writeOff"]) }),
  z.strictObject({ action: z.literal(["hold", "release", "decline", "conclude", "collect"]) }),
  z.strictObject({ action: z.literal("settle"), signature: z.string().min(1).max(128) }),
  z.strictObject({ action: z.literal("foreclose"), chunk: z.number().int().min(1) }),
  z.strictObject({ action: z.literal("refundTo"), address, asset: address.optional() }),
  z.strictObject({ action: z.literal("foreign"), mint: address, address: address.optional() }),
]);

/** The schema of a command about an order. */
export const orderCommand = z.custom<OrderCommand>((given) => {
  const read = resolveCommand.safeParse(given);
  return read.success && isOrderCommand(read.data);
});

/** The schema of `approve`'s approval. */
export const approvalGiven = z.strictObject({ address: address.optional() });

/** An act on an order. */
export interface OrderDecision {
  readonly order: string;
  readonly command: OrderCommand;
}

/** Acts on orders, as a way to pay that has orders brings them. */
export interface OrderActs {
  /** Decides, or asks for the second word that the act needs. Throws `OperatorRefused` and `LedgerUnavailable`. */
  readonly row: ActRow<OrderDecision, unknown, ResolveResult, AnyWrite>;
  /** The decision that waits about an order. */
  readonly waits: (order: string) => Waits<OrderDecision>;
}
