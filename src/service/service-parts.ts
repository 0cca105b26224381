/** Assembles a payment service from its checked options: a context, an engine, and the parts that run on both. */
import type { z } from "zod";
import { createEngine, type AnyWorkflow, type CommitAdditions, type Engine } from "../engine/index.ts";
import type { CommitResult } from "../../storage/storage.ts";
import type { EngineStore } from "../engine/kernel/engine-store.ts";
import { redactingLogger } from "../core/redacting-log.ts";
import { assetsWith } from "../payments/frame/assets/assets.ts";
import {
  paymentStore,
  withPaymentReads,
  type PaymentContext,
  type PaymentTables,
} from "../payments/payment-storage.ts";
import { PaymentRetentionLoop } from "../payments/frame/retention/payment-retention.ts";
import { createSecretBox, type SecretBox } from "../payments/frame/secrets/secret-box.ts";
import { announceNothing, type AnnounceEffect } from "../payments/frame/notices/notice-writes.ts";
import { HostParts } from "../payments/frame/host-parts.ts";
import { WAY_MODULES, type CreatedTransactionBody } from "../payments/modules.ts";
import type { OpenModule } from "../payments/frame/open-module.ts";
import { ActRunner } from "../payments/frame/acts/act-runner.ts";
import { createWriteAct } from "../payments/frame/acts/act.ts";
import type { CompletionDeps } from "../payments/frame/way-module.ts";
import type { AttemptRecord } from "../payments/frame/tables/attempts.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import { StatusWaitList } from "../payments/frame/transactions/show-transaction.ts";
import { watchSignatures } from "../payments/wallet/watch-signatures.ts";
import {
  walletTransferWorkflow,
  type WalletTransferWorkflow,
} from "../payments/wallet/wallet-transfer-workflow.ts";
import { DisputeList } from "../ledger/disputes.ts";
import type { EndpointDispute, Ledger } from "../ledger/ledger.ts";
import { ChainBinding } from "./chain-binding.ts";
import { ChainGate } from "./chain-check.ts";
import { CommitHealth } from "./commit-health.ts";
import { LedgerCallHistory } from "./ledger-call-history.ts";
import { ledgerInForce } from "./ledger-in-force.ts";
import { openOperator, type OpenedOperator } from "./open-operator.ts";
import { oldRowsOf } from "./old-rows.ts";
import { openPurses } from "./open-purses.ts";
import { ownAddresses, type RoutingWallets } from "../payments/frame/purses/routing-wallets.ts";
import type { PurseWatch } from "../payments/frame/purses/purses.ts";
import type { paymentServiceOptions } from "./payment-service-options.ts";

type CheckedServiceOptions = z.output<typeof paymentServiceOptions>;

export interface ServiceParts extends OpenedOperator {
  readonly options: CheckedServiceOptions;
  readonly context: PaymentContext;
  /** Shut while a start waits for the chain; `context.ledger` is behind it. */
  readonly gate: ChainGate;
  /** Shut from a stop to the next start; `context.storage` is behind it. */
  readonly store: EngineStore;
  /** The ledger in force before the gate: it tells how the chain is, also while nothing may be believed of it. */
  readonly observed: Ledger;
  /** Whether the database takes commits. */
  readonly commits: CommitHealth;
  /** Ledger calls of tasks, recorded once an inspector asks. */
  readonly calls: LedgerCallHistory;
  readonly chain: ChainBinding;
  readonly sealing: SecretBox;
  readonly transfers: WalletTransferWorkflow;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  /** The modules of the list, with what they bring to this service. */
  readonly modules: readonly OpenModule<CreatedTransactionBody>[];
  /** The parts of the mode that routes payments; null while none does. */
  readonly wallets: RoutingWallets | null;
  readonly workflows: readonly AnyWorkflow[];
  /** Carries out the acts of an operator. */
  readonly acts: ActRunner;
  readonly engine: Engine<PaymentTables>;
  readonly waiters: StatusWaitList;
  readonly retention: PaymentRetentionLoop;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  /** Asks the host's parts, and knows which do not answer. */
  readonly parts: HostParts;
  readonly purses: PurseWatch;
}

type Charts = Pick<
  ServiceParts,
  "sealing" | "transfers" | "swapper" | "modules" | "wallets" | "workflows" | "acts"
>;

/**
 * Assembles a service without running or asking anything. Throws `InvalidOptions` for thresholds of purses that are no
 * amounts.
 */
export function assembleService(options: CheckedServiceOptions): ServiceParts {
  const gate = new ChainGate();
  const store = paymentStore(options.storage);
  const calls = new LedgerCallHistory(options.clock);
  const { observed, commits, ...context } = contextOf(options, { gate, store, calls });
  const { storage, ledger, clock, assets } = context;
  const { masterSecrets, environment } = options;
  const chain = new ChainBinding({ storage, ledger, masterSecrets, environment });
  const parts = new HostParts(clock, options.partDeadlineMs);
  const started: { engine: Engine<PaymentTables> | null } = { engine: null };
  const charts = chartsOf(options, context, { chain, parts, gate, engine: () => engineIn(started) });
  const { wallets, swapper } = charts;
  const purses = openPurses(
    { storage, ledger, clock, assets },
    { wallets, swapper, deskLowBalance: options.swap?.lowBalance ?? {} },
  );
  const engine = engineOf(options, context, charts);
  started.engine = engine;
  engine.subscribe(({ commit }) => {
    for (const { work } of charts.modules) work?.committed(commit);
  });
  const disputed = async (): Promise<readonly EndpointDispute[]> => [
    ...(await observed.disputes()),
    ...context.disputes.standing(),
  ];
  const operated = openOperator({
    ...context,
    ...charts,
    engine,
    purses,
    configured: options.ledger,
    bindToChain: () => chain.bind(),
    onAttention: options.onAttention ?? null,
    onAttentionDeadlineMs: options.onAttentionDeadlineMs,
    disputed,
    parts,
  });
  const waiters = new StatusWaitList(storage, clock, engine);
  const retention = retentionOf(options, { ...context, ledger: observed }, charts);
  return {
    options,
    context,
    gate,
    store,
    observed,
    commits,
    calls,
    chain,
    ...charts,
    engine,
    waiters,
    retention,
    disputed,
    parts,
    purses,
    ...operated,
  };
}

function contextOf(
  options: CheckedServiceOptions,
  { gate, store, calls }: Pick<ServiceParts, "gate" | "store" | "calls">,
): PaymentContext & Pick<ServiceParts, "observed" | "commits"> {
  const { clock, random, masterSecrets } = options;
  const secrets = masterSecrets.map(({ secret }) => secret);
  const commits = new CommitHealth(random, clock);
  const storage = commits.hearing(withPaymentReads(store));
  const { observed, guarded } = ledgerInForce(options.ledger, { storage, clock }, { gate, calls });
  return {
    storage,
    clock,
    random,
    observed,
    commits,
    ledger: guarded,
    assets: assetsWith(options.stablecoins),
    disputes: new DisputeList(clock),
    log: redactingLogger(options.logger, secrets),
  };
}

/** The parts for opening modules, besides options and context. */
interface ModuleSurroundings extends Pick<ServiceParts, "chain" | "parts" | "gate"> {
  /** Throws until it is built: the charts of the modules are part of it. */
  readonly engine: () => Engine<PaymentTables>;
}

function engineIn({ engine }: { readonly engine: Engine<PaymentTables> | null }): Engine<PaymentTables> {
  if (engine === null) throw new Error("a module has used the engine before it was built");
  return engine;
}

function chartsOf(
  options: CheckedServiceOptions,
  context: PaymentContext,
  { chain, parts: { ask }, gate, engine }: ModuleSurroundings,
): Charts {
  const { storage, ledger, clock, assets, log } = context;
  const sealing = createSecretBox(options.masterSecrets, options.random);
  const swapper = options.swap?.provider.connect({ ledger, tokens: assets.tokens, clock, log, ask }) ?? null;
  const modules: OpenModule<CreatedTransactionBody>[] = [];
  const writeAct = createWriteAct(context);
  const acts = new ActRunner({ ...context, writeAct, approvals: options.approvals });
  const deps = {
    ...context,
    options,
    engine,
    swapper,
    sealing,
    eventNotices: (id: string) =>
      Promise.all(modules.flatMap(({ eventNotices }) => eventNotices?.(id) ?? [])),
    ask,
    writeAct,
    acts,
    genesisHash: () => chain.genesisHash,
    bindToChain: () => chain.bind(),
    commit: commitWhenCompared({ gate, engine }),
  };
  const announcer = (): AnnounceEffect =>
    modules.find(({ announce }) => announce !== undefined)?.announce ?? announceNothing;
  for (const { open } of WAY_MODULES) {
    const module = open?.({ ...deps, announce: announcer() });
    if (module !== undefined) modules.push(module);
  }
  const transfers = walletTransferWorkflow({
    storage,
    ledger,
    log,
    announce: announcer(),
    complete: (attempt) => completed({ storage, ledger, clock, assets, swapper }, attempt),
  });
  const workflows = [transfers, ...modules.flatMap((module) => module.workflows ?? [])];
  const wallets = modules.find((module) => module.wallets !== undefined)?.wallets ?? null;
  return { sealing, transfers, swapper, modules, wallets, workflows, acts };
}

/** Commits new work only after the chain was compared, even when a provider has asked nothing of our ledger. */
export function commitWhenCompared({
  gate,
  engine,
}: Pick<ModuleSurroundings, "gate" | "engine">): (
  additions: CommitAdditions<PaymentTables>,
) => Promise<CommitResult> {
  return async (additions) => {
    gate.pass();
    return engine().commit(additions);
  };
}

/** The bytes to send: as they were signed, or as a module completes them. */
async function completed(deps: CompletionDeps, attempt: AttemptRecord): Promise<Uint8Array | null> {
  let bytes: Uint8Array | null = attempt.bytes;
  for (const { complete } of WAY_MODULES) {
    if (bytes !== null && complete !== undefined) bytes = await complete(deps, { ...attempt, bytes });
  }
  return bytes;
}

function retentionOf(
  { keep, archive, archiveDeadlineMs }: CheckedServiceOptions,
  context: PaymentContext,
  { wallets, swapper, modules }: Charts,
): PaymentRetentionLoop {
  const { storage, ledger, clock } = context;
  const rows = oldRowsOf(
    { storage, clock, archive: archive ?? null, archiveDeadlineMs },
    {
      keep,
      ledger,
      ownAddresses: ownAddresses(wallets, swapper),
      modules,
    },
  );
  return new PaymentRetentionLoop(context, { keep, rows });
}

function engineOf(
  { ledgerPollMs, leaseMs }: CheckedServiceOptions,
  { storage, ledger, clock, random, log }: PaymentContext,
  { workflows, modules }: Charts,
): Engine<PaymentTables> {
  const watching = { storage, ledger, clock, log, intervalMs: ledgerPollMs };
  return createEngine<PaymentTables>({
    storage,
    workflows,
    leaseMs,
    clock,
    random,
    watchers: {
      ...watchSignatures(watching),
      ...Object.fromEntries(modules.flatMap((module) => Object.entries(module.watchers ?? {}))),
    },
    logger: log,
  });
}
