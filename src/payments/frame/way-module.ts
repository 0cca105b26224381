/** A module of the payment service: the service takes a list of them, and knows them by nothing else. */
import type { Swapper } from "./exchange/swap-provider.ts";
import type { FrameStorage } from "./frame-storage.ts";
import type { OpeningDeps, OpenModule, PaymentWay } from "./open-module.ts";
import type { ServiceContext } from "./service-context.ts";
import type { SignedTransactionParts } from "./signed/accept-signed.ts";
import type { FrameTables } from "./tables.ts";
import type { AttemptRecord } from "./tables/attempts.ts";
import type { CreatedBody } from "./transactions/transaction-mode.ts";

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

/** A module names the storage, the tables and the options that it takes of the service's. */
export interface WayModule<
  Body extends CreatedBody = CreatedBody,
  Storage extends FrameStorage = FrameStorage,
  Tables = FrameTables,
  Options = object,
> {
  /** Its folder below `src/payments`. */
  readonly name: string;
  /** Modules that it cannot be without. */
  readonly needs?: readonly string[];
  /** Files outside its folder that go with it and do not say so themselves, such as examples; a folder ends in a slash. */
  readonly owns?: readonly string[];
  /** Its ways that are on. */
  readonly ways?: (deps: WayDeps) => readonly PaymentWay<Body>[];
  readonly complete?: CompleteBytes;
  /** Opens it in a service, whose engine is not there yet. Throws `InvalidOptions`. */
  readonly open?: (deps: OpeningDeps<Storage, Tables, Options>) => OpenModule<Body>;
}
