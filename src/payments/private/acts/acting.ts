/** The parts of an act on an order of private mode: a look at the order, and the commit that the act is. */
import type { Address } from "../../../core/address.ts";
import type { OrderEvent } from "../../../../machines/order-context.ts";
import type { SendResult, StartRequest } from "../../../engine/index.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { CommitResult } from "../../../../storage/storage.ts";
import type { Clock, Random } from "../../../core/runtime.ts";
import type { Assets } from "../../frame/assets/assets.ts";
import type { PrivateStorage, PrivateWrite } from "../private-storage.ts";
import type { OrderLook } from "../look.ts";
import type { PlanTransfer } from "../plan-transfer.ts";
import type { ScreenAddress } from "../../frame/recipients/recipients.ts";
import { OperatorRefused, type ActName } from "../../frame/acts/act.ts";
import type { OrderCommand } from "../../frame/acts/command.ts";
import { standingOf, type OrderStanding } from "./standing.ts";

/** Further parts of a commit. */
export interface OrderCommit {
  readonly writes: readonly PrivateWrite[];
  readonly starts: readonly StartRequest[];
}

/** Private mode, as acts use it. */
export interface OrderControl {
  /** Rows and chain at this moment. Throws `LedgerUnavailable`. */
  readonly look: (id: string) => Promise<OrderLook>;
  /** Hands the event to the order in one commit with the rest. */
  readonly send: (id: string, event: OrderEvent, commit: OrderCommit) => Promise<SendResult>;
  readonly commit: (commit: OrderCommit) => Promise<CommitResult>;
  /** Has a transfer tried at once. */
  readonly wake: (transfer: string) => Promise<unknown>;
  readonly planTransfer: PlanTransfer;
  /** Null when the host does not screen. */
  readonly screen: ScreenAddress | null;
  /** Addresses of the service itself besides those of orders: no money of a customer goes there. */
  readonly ownAddresses: readonly Address[];
}

/** The evidence for the decision of an act. */
export interface OrderActParts {
  readonly storage: PrivateStorage;
  readonly ledger: Ledger;
  readonly assets: Assets;
  readonly clock: Clock;
  readonly random: Random;
  readonly control: OrderControl;
}

/** An act that is being decided. */
export interface Acting<Command extends OrderCommand = OrderCommand> {
  readonly parts: OrderActParts;
  readonly command: Command;
  readonly look: OrderLook;
  readonly standing: OrderStanding;
  /** The requester and the confirmer. */
  readonly actors: readonly string[];
  /** The sum that was asked for, in base units, if this confirms it. */
  readonly confirmed: bigint | null;
}

/** Command of one action. */
export type CommandOf<Action extends OrderCommand["action"]> = Extract<OrderCommand, { action: Action }>;

/** A second confirmation that an act needs, and what the confirming person is shown. */
export interface Confirmation {
  readonly by: "any" | "another";
  readonly address?: Address;
  /** In base units, as it was asked for: the most to send, or the missing sum. */
  readonly sum?: bigint;
  readonly allowed?: Readonly<Record<string, string>>;
}

/** An act that is decided: one commit. */
export interface OrderAct {
  readonly act: ActName;
  /** For the audit log, besides the order's id. */
  readonly what: Readonly<Record<string, unknown>>;
  /** Handed to the order before the rest, each in a commit of its own: what it has decided meanwhile changes nothing. */
  readonly first?: readonly OrderEvent[];
  /** The event that the order must take for the act to count; null if it is only to look again. */
  readonly event: OrderEvent | null;
  readonly writes: readonly PrivateWrite[];
  readonly starts?: readonly StartRequest[];
  /** Transfers that are tried at once when it is done; without it they are when their pause is over. */
  readonly wakes?: readonly string[];
  /** Null where one word is enough. */
  readonly confirmation: Confirmation | null;
}

export function actingOn<Command extends OrderCommand>(
  parts: OrderActParts,
  command: Command,
  about: Pick<Acting, "look" | "actors" | "confirmed">,
): Acting<Command> {
  return { parts, command, ...about, standing: standingOf(about.look) };
}

/** The refusal of an act on this order. */
export function refusal({ look, command }: Pick<Acting, "look" | "command">, why: string): OperatorRefused {
  return new OperatorRefused(`${command.action}: order ${look.terms.id} ${why}`);
}
