/** A module that is open in a service: what it brings, made of the service's options and of what the service lends to it. */
import type { AnyCommit, CommitResult } from "../../../storage/storage.ts";
import type { AnyWorkflow, CommitAdditions, Watcher } from "../../engine/index.ts";
import type { GivenAct, OfferedAct } from "../../engine/inspected-engine.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { WriteAct } from "./acts/act.ts";
import type { ActRunner } from "./acts/act-runner.ts";
import type { OrderActs } from "./acts/command.ts";
import type { ErasureCheck } from "./acts/erasure-check.ts";
import type { AttentionSource } from "./acts/matter.ts";
import type { Swapper } from "./exchange/swap-provider.ts";
import type { Caller } from "./accounts/caller.ts";
import type { FrameStorage, FrameWrite } from "./frame-storage.ts";
import type { AskPart } from "./host-parts.ts";
import type { ModuleEngine } from "./module-engine.ts";
import type { AnnounceEffect, EventNotice } from "./notices/notice-writes.ts";
import type { RoutingWallets } from "./purses/routing-wallets.ts";
import type { QuoteWay } from "./quotes/quote-way.ts";
import type { TellProgress } from "./reconcile-progress.ts";
import type { CheckedKeepOptions } from "./retention/keep.ts";
import type { LeavingParts } from "./retention/leaving.ts";
import type { GoesWithNotice } from "./retention/old-notices.ts";
import type { OldRows } from "./retention/old-rows.ts";
import type { SecretBox } from "./secrets/secret-box.ts";
import type { ServiceContext } from "./service-context.ts";
import type { CreatedBody, TransactionMode, TransactionWay } from "./transactions/transaction-mode.ts";

/** Makes quotes of some transactions, and takes these. */
export interface PaymentWay<Body extends CreatedBody = CreatedBody> extends QuoteWay, TransactionWay<Body> {}

/** Dependencies that the service lends to a module that it opens, with the storage, the tables and the options that the module names. */
export interface OpeningDeps<Storage extends FrameStorage, Tables, Options> extends ServiceContext<Storage> {
  readonly options: Options;
  /** The engine, once all modules are open. */
  readonly engine: () => ModuleEngine<Tables>;
  /** Parts of earlier modules in the list. */
  readonly announce: AnnounceEffect;
  /** Makes notices of the events of a transaction that modules have noted; see `OpenModule`. */
  readonly eventNotices: (transactionId: string) => Promise<readonly EventNotice[]>;
  /** Seals what must not be read from a stolen database. */
  readonly sealing: SecretBox;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  readonly ask: AskPart;
  readonly writeAct: WriteAct;
  /** Carries out the acts of an operator. */
  readonly acts: ActRunner;
  /** Throws before the database is bound to its chain. */
  readonly genesisHash: () => string;
  /** Makes sure that the database belongs to this chain: keys of addresses depend on it. */
  readonly bindToChain: () => Promise<unknown>;
  /** Commits new work only after the chain was compared. */
  readonly commit: (additions: CommitAdditions<Tables>) => Promise<CommitResult>;
}

/** Work of a module beside its charts, from `run` to `end`. */
export interface ModuleWork {
  run(): void;
  /** Begins nothing any more, and resolves when what is in hand is done. */
  stop(): Promise<void>;
  /** Comes after all work of the service has stopped; takes so long at most. */
  end(timeoutMs: number): Promise<void>;
  /** Resolves when nothing is in hand; true where there was something, which may have begun tasks. */
  settled(): Promise<boolean>;
  /** Hears of each durable commit of this process. */
  committed(commit: Pick<AnyCommit, "writes">): void;
}

/** Personal data of a module. */
export interface ModuleErasure {
  /** Writes that blank its data of an account. */
  account(accountId: string, now: number): Promise<readonly FrameWrite[]>;
  /** Writes that blank its data of a transaction. */
  transaction(transactionId: string): Promise<readonly FrameWrite[]>;
  /** The account that a stored answer is of; null for an answer of others. */
  accountOf(answer: Readonly<Record<string, string>>): Promise<string | null>;
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

/** The parts of an open module; each part is optional. */
export interface OpenModule<Body extends CreatedBody = CreatedBody> {
  /** Its name in the log where it is not configured; absent where it is, or needs nothing. */
  readonly off?: string;
  readonly workflows?: readonly AnyWorkflow[];
  /** The charts of the module that go on while nothing may be believed of the chain. */
  readonly chainless?: readonly AnyWorkflow[];
  readonly work?: ModuleWork;
  /** The effect by which the charts of transactions announce. */
  readonly announce?: AnnounceEffect;
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
  /** Calls that it adds to the service's: each asks the storage. */
  readonly calls?: object;
  /** Calls of the module that read nothing. */
  readonly listeners?: object;
  /** Fields that it adds to an account. */
  readonly accountFields?: (caller: Caller) => Promise<object>;
  /** Fields that it adds to the service's health, and how they stand while the storage is silent. */
  readonly health?: { readonly silent: object; readonly read: () => Promise<object> };
  /** Fields that it adds to a diagnosis. */
  readonly diagnose?: () => Promise<object>;
  /** Charts whose CANCEL is the caller's own. */
  readonly cancellable?: readonly string[];
  /** Acts that viewers of an instance are offered besides those of its tasks: the keys are actions of `resolve`. */
  readonly offers?: (instance: string) => Promise<readonly OfferedAct[]>;
  /** Carries out an act of its own, and returns its result; null for an act of others. Rejects with `ActRefused`. */
  readonly perform?: (instance: string, key: string, by: GivenAct) => Promise<string | null>;
  /** The transaction that an instance of the module belongs to; null for an instance of others. */
  readonly transactionOf?: (instance: string) => Promise<string | null>;
  /** Null for a transaction of others. */
  readonly erasureCheck?: (transactionId: string) => Promise<ErasureCheck | null>;
  readonly erasure?: ModuleErasure;
  /** Begins its reads at once; afterwards makes notices of events that it has noted. */
  readonly eventNotices?: (transactionId: string) => Promise<EventNotice>;
  /** Throws `StartRefused` for options that do not fit the chain. Makes no call. */
  readonly check?: (genesisHash: string) => void;
  /** Warns of what is missing to begin with, once the chain may be asked. */
  readonly warn?: () => Promise<void>;
  /** Done before a start goes on with anything. */
  readonly beforeWork?: () => Promise<void>;
  /** Rows of the module that go once they are old. */
  readonly oldRows?: (parts: RetentionDeps) => readonly OldRows[];
  readonly goesWithNotice?: GoesWithNotice;
  /** Compares its records with the chain. Rejects with `LedgerUnavailable`. */
  readonly reconcile?: (ledger: Ledger, tell: TellProgress) => Promise<ReconciledPart>;
}
