/** Flows as data: what happens to a payment service, act by act, and how it may end. */
// modules: webhooks
import type { PaymentService } from "../../src/service/payment-service.ts";
import type { NoticeEvent } from "../../src/payments/frame/notices/notice-body.ts";
import type { TransactionStatus } from "../../src/payments/frame/tables/orders.ts";
import type { Death } from "../kit/mortal.ts";
import type { World, WorldSettings } from "./world.ts";

/** Where an act takes place: a world and the process that lives in it just then. */
export interface Stage {
  readonly world: World;
  readonly service: PaymentService;
  /** Lets virtual time pass, due moment by due moment. */
  pass(ms: number): Promise<void>;
  /** Lets slots of the chain pass, and the service see it. */
  slots(count: number): Promise<void>;
  /** Nothing is to be done any more, now or later, and nothing is watched. */
  isAtRest(): Promise<boolean>;
}

/**
 * Something a client, the chain or time does. When the process dies in the middle of it, the next process lives
 * through it again from its beginning, as with a client that asks again until it is answered.
 */
export type Act = (stage: Stage) => Promise<void>;

/** One way in which a payment may end. */
export interface End {
  readonly status: TransactionStatus;
  readonly reason?: string;
  /** What each of its recipients has gained by the chain's own books, in base units, or as much as its quote said. */
  readonly paid: bigint | "as quoted";
  /** Which of them, by index, have gained nothing. */
  readonly unpaid?: readonly number[];
  /** How many refunds have landed; none unless said otherwise. */
  readonly refunds?: number;
  /** Its notices, in their order. */
  readonly told: readonly NoticeEvent[];
  /** Those of them that were given up after six attempts; all others arrived. */
  readonly givenUp?: readonly NoticeEvent[];
}

/** A flow. It must come to rest, however often its processes die. */
export interface Flow extends WorldSettings {
  /** A sentence: what holds, whenever it is killed. */
  readonly holds: string;
  /** What has happened already, at the hands of a process that dies so, or at the end of these acts. */
  readonly before?: {
    readonly acts: readonly Act[];
    readonly death?: Death;
    /** The state of its machine in which each payment must stand then, lest another one be tested than was meant. */
    readonly leaves: Readonly<Record<string, string>>;
  };
  /** What happens before everybody's eyes; then time and slots pass until nothing is left to do. */
  readonly acts: readonly Act[];
  /** Calls that it must make: it is killed at each of these at least once. */
  readonly makes?: readonly string[];
  /** By the payment's name: the ways in which it may end. */
  readonly ends: Readonly<Record<string, readonly [End, ...End[]]>>;
}
