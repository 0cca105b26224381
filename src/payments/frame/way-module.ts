/** A module of the payment service that brings ways to pay, or a provider that one of them asks: the service takes a list of them. */
import type { Swapper } from "./exchange/swap-provider.ts";
import type { QuoteWay } from "./quotes/quote-way.ts";
import type { ServiceContext } from "./service-context.ts";
import type { SignedTransactionParts } from "./signed/accept-signed.ts";
import type { AttemptRecord } from "./tables/attempts.ts";
import type { CreatedBody, TransactionWay } from "./transactions/transaction-mode.ts";

/** Makes quotes of some transactions, and takes these. */
export interface PaymentWay<Body extends CreatedBody = CreatedBody> extends QuoteWay, TransactionWay<Body> {}

/** Dependencies that the service lends to a way. */
export interface WayDeps extends ServiceContext, SignedTransactionParts {
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
}

/** Dependencies of completing bytes. */
export type CompletionDeps = Pick<ServiceContext, "storage" | "ledger" | "clock" | "assets"> &
  Pick<WayDeps, "swapper">;

/** Completes the bytes of a caller before they are sent; null when no bytes are left to send, or others send them. */
export type CompleteBytes = (deps: CompletionDeps, attempt: AttemptRecord) => Promise<Uint8Array | null>;

export interface WayModule<Body extends CreatedBody = CreatedBody> {
  /** Of its folder below `src/payments`. */
  readonly name: string;
  /** Modules that it cannot be without. */
  readonly needs?: readonly string[];
  /** Its ways that are on. */
  readonly ways?: (deps: WayDeps) => readonly PaymentWay<Body>[];
  readonly complete?: CompleteBytes;
}
