/** A module that is open in a service: what it brings, made of the service's options and of what the service lends to it. */
import type { AnyWorkflow, CommitAdditions, CommitResult, Watcher } from "../../engine/index.ts";
import type { OfferedAct } from "../../engine/inspected-engine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { WriteAct } from "./acts/act.ts";
import type { OrderActs } from "./acts/command.ts";
import type { ErasureCheck } from "./acts/erasure-check.ts";
import type { AttentionSource } from "./acts/matter.ts";
import type { Swapper } from "./exchange/swap-provider.ts";
import type { FrameStorage } from "./frame-storage.ts";
import type { AskPart } from "./host-parts.ts";
import type { ModuleEngine } from "./module-engine.ts";
import type { AnnounceEffect, EventNotice } from "./notices/notice-writes.ts";
import type { RoutingWallets } from "./purses/routing-wallets.ts";
import type { QuoteWay } from "./quotes/quote-way.ts";
import type { TellProgress } from "./reconcile-progress.ts";
import type { CheckedKeepOptions } from "./retention/keep.ts";
import type { LeavingParts } from "./retention/leaving.ts";
import type { OldRows } from "./retention/old-rows.ts";
import type { ServiceContext } from "./service-context.ts";
import type { CreatedBody, TransactionMode, TransactionWay } from "./transactions/transaction-mode.ts";

/** Makes quotes of some transactions, and takes these. */
export interface PaymentWay<Body extends CreatedBody = CreatedBody> extends QuoteWay, TransactionWay<Body> {}

/** Dependencies that the service lends to a module that it opens, with the storage, the tables and the options that the module names. */
export interface OpeningDeps<Storage extends FrameStorage, Tables, Options> extends ServiceContext<Storage> {
  readonly options: Options;
  /** The engine, once all modules are open. */
  readonly engine: () => ModuleEngine<Tables>;
  readonly announce: AnnounceEffect;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  readonly ask: AskPart;
  readonly writeAct: WriteAct;
  /** Throws before the database is bound to its chain. */
  readonly genesisHash: () => string;
  /** Makes sure that the database belongs to this chain: keys of addresses depend on it. */
  readonly bindToChain: () => Promise<unknown>;
  /** Commits new work only after the chain was compared. */
  readonly commit: (additions: CommitAdditions<Tables>) => Promise<CommitResult>;
}

/** The chain's answer about the records of a module. */
export interface ReconciledPart<Body extends object = object> {
  readonly body: Body;
  readonly isExplained: boolean;
}

/** Dependencies of letting old rows go. */
export interface RetentionDeps extends Omit<LeavingParts, "storage"> {
  readonly keep: CheckedKeepOptions;
  /** The ledger, also while nothing may be believed of it. */
  readonly ledger: Ledger;
}

/** What an open module brings; each part is optional. */
export interface OpenModule<Body extends CreatedBody = CreatedBody> {
  /** Its name in the log where it is not configured; absent where it is, or needs nothing. */
  readonly off?: string;
  readonly workflows?: readonly AnyWorkflow[];
  readonly watchers?: Readonly<Record<string, Watcher>>;
  /** Its ways that are on. */
  readonly ways?: readonly PaymentWay<Body>[];
  /** The modes whose transactions the module shows and cancels, even while it is off. */
  readonly modes?: readonly TransactionMode<Body>[];
  readonly wallets?: RoutingWallets;
  /** Sources of matters. */
  readonly matters?: readonly AttentionSource[];
  /** Carries out acts on its orders. */
  readonly orderActs?: OrderActs;
  /** Commands that it adds to the operator's. */
  readonly commands?: object;
  /** Charts whose CANCEL is the caller's own. */
  readonly cancellable?: readonly string[];
  /** Acts that viewers of an instance are offered besides those of its tasks: the keys are actions of `resolve`. */
  readonly offers?: (instance: string) => Promise<readonly OfferedAct[]>;
  /** The transaction that an instance of the module belongs to; null for an instance of others. */
  readonly transactionOf?: (instance: string) => Promise<string | null>;
  /** Null for a transaction of others. */
  readonly erasureCheck?: (transactionId: string) => Promise<ErasureCheck | null>;
  /** Begins its reads at once; then makes notices of events that it has noted. */
  readonly eventNotices?: (transactionId: string) => Promise<EventNotice>;
  /** Throws `StartRefused` for options that do not fit the chain. Makes no call. */
  readonly check?: (genesisHash: string) => void;
  /** Warns of what is missing to begin with, once the chain may be asked. */
  readonly warn?: () => Promise<void>;
  /** Done before a start goes on with anything. */
  readonly beforeWork?: () => Promise<void>;
  /** Its rows that go once they are old. */
  readonly oldRows?: (parts: RetentionDeps) => readonly OldRows[];
  /** Compares its records with the chain. Rejects with `LedgerUnavailable`. */
  readonly reconcile?: (ledger: Ledger, tell: TellProgress) => Promise<ReconciledPart>;
}
