/** Assembles a payment service from its checked options: a context, an engine, and the parts that run on both. */
import type { z } from "zod";
import { createEngine, type AnyWorkflow, type Engine } from "../engine/index.ts";
import type { EngineStore } from "../engine/kernel/engine-store.ts";
import { redactingLogger } from "../core/redacting-log.ts";
import { assetsWith } from "../payments/frame/assets/assets.ts";
import { finishEnds } from "../payments/private/recovery/finish-ends.ts";
import type { PrivateRouting } from "../payments/private/private-routing.ts";
import { NoticeFeed } from "../payments/webhooks/notice-feed.ts";
import { OrderEventLoop } from "../payments/webhooks/order-event-loop.ts";
import {
  paymentStore,
  withPaymentReads,
  type PaymentContext,
  type PaymentTables,
} from "../payments/payment-storage.ts";
import type { AnnounceEffect } from "../payments/frame/notices/notice-writes.ts";
import { PaymentRetentionLoop } from "../payments/frame/retention/payment-retention.ts";
import { depositKeys } from "../payments/frame/secrets/deposit-keys.ts";
import { createSecretBox, type SecretBox } from "../payments/frame/secrets/secret-box.ts";
import { HostParts } from "../payments/frame/host-parts.ts";
import { WAY_MODULES } from "../payments/modules.ts";
import type { CompletionDeps } from "../payments/frame/way-module.ts";
import type { AttemptRecord } from "../payments/frame/tables/attempts.ts";
import type { Swapper } from "../payments/frame/exchange/swap-provider.ts";
import { StatusWaitList } from "../payments/frame/transactions/show-transaction.ts";
import { watchLanding, watchStrayLanding } from "../payments/wallet/watch-signatures.ts";
import { watchExpired, watchUnprovable } from "../payments/wallet/watch-unsettled.ts";
import {
  walletTransferWorkflow,
  type WalletTransferWorkflow,
} from "../payments/wallet/wallet-transfer-workflow.ts";
import { announceEffect } from "../payments/webhooks/announce-effect.ts";
import { createDeliveryClient, type DeliveryClient } from "../payments/webhooks/sending/attempt.ts";
import {
  webhookDeliveryWorkflow,
  type WebhookDeliveryWorkflow,
} from "../payments/webhooks/webhook-delivery-workflow.ts";
import type { ReceiverRules } from "../payments/webhooks/sending/receiver-url.ts";
import { DisputeList } from "../ledger/disputes.ts";
import type { EndpointDispute, Ledger } from "../ledger/ledger.ts";
import { ChainBinding } from "./chain-binding.ts";
import { ChainGate } from "./chain-check.ts";
import { CommitHealth } from "./commit-health.ts";
import { LedgerCallHistory } from "./ledger-call-history.ts";
import { ledgerInForce } from "./ledger-in-force.ts";
import { openOperator, type OpenedOperator } from "./open-operator.ts";
import { openPrivateRouting } from "./open-private-routing.ts";
import { recordEnd } from "../payments/private/recovery/journal.ts";
import { lookAtOrder } from "../payments/private/look.ts";
import type { RecordEnd } from "../payments/private/order-workflow.ts";
import { oldRowsOf } from "./old-rows.ts";
import { openPurses, ownAddresses } from "./open-purses.ts";
import type { PurseWatch } from "../payments/frame/purses/purses.ts";
import type { paymentServiceOptions } from "./payment-service-options.ts";

type CheckedServiceOptions = z.output<typeof paymentServiceOptions>;

/** The sending part of webhooks, and their receivers' rules. */
interface WebhookParts {
  readonly sealing: SecretBox;
  readonly delivery: DeliveryClient;
  readonly deliveries: WebhookDeliveryWorkflow;
  readonly rules: ReceiverRules;
}

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
  readonly webhooks: WebhookParts;
  readonly transfers: WalletTransferWorkflow;
  /** Null while no swap provider is configured. */
  readonly swapper: Swapper | null;
  /** Null while private mode is off. */
  readonly routing: PrivateRouting | null;
  /** Writes down an end that no marker tells, before anybody is told. */
  readonly recordEnd: RecordEnd;
  readonly workflows: readonly AnyWorkflow[];
  readonly engine: Engine<PaymentTables>;
  readonly waiters: StatusWaitList;
  readonly notices: NoticeFeed;
  readonly orderEvents: OrderEventLoop;
  readonly retention: PaymentRetentionLoop;
  /** Ends what callers were told of as ended, before a start goes on with anything. */
  readonly finishEnds: () => Promise<void>;
  /** Disagreements between endpoints that this process sees. */
  readonly disputed: () => Promise<readonly EndpointDispute[]>;
  /** Asks the host's parts, and knows which do not answer. */
  readonly parts: HostParts;
  readonly purses: PurseWatch;
}

type Charts = Pick<
  ServiceParts,
  "webhooks" | "transfers" | "swapper" | "routing" | "recordEnd" | "workflows"
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
  const charts = chartsOf(options, context, { chain, parts });
  const { routing, swapper } = charts;
  const purses = openPurses(
    { storage, ledger, clock, assets },
    { routing, swapper, deskLowBalance: options.swap?.lowBalance ?? {} },
  );
  const engine = engineOf(options, context, charts);
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
    masterVersions: masterSecrets.map(({ version }) => version),
    journal: options.recovery ?? null,
    bindToChain: () => chain.bind(),
    onAttention: options.onAttention ?? null,
    onAttentionDeadlineMs: options.onAttentionDeadlineMs,
    approvals: options.approvals,
    disputed,
    parts,
  });
  const waiters = new StatusWaitList(storage, clock, engine);
  const notices = new NoticeFeed({ ...context, engine });
  const retention = retentionOf(options, { ...context, ledger: observed }, { ...charts, engine });
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
    notices,
    orderEvents: new OrderEventLoop({ ...context, ...charts.webhooks, engine }),
    retention,
    finishEnds: () => finishOrders(options, context, { engine, routing }),
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

function chartsOf(
  options: CheckedServiceOptions,
  context: PaymentContext,
  { chain, parts: { ask } }: Pick<ServiceParts, "chain" | "parts">,
): Charts {
  const { storage, ledger, clock, assets, log } = context;
  const webhooks = webhookPartsOf(options, context);
  const { deliveries } = webhooks;
  const announce: AnnounceEffect = announceEffect({
    storage,
    clock,
    assets,
    deliveries,
  });
  const swapper = options.swap?.provider.connect({ ledger, tokens: assets.tokens, clock, log, ask }) ?? null;
  const transfers = walletTransferWorkflow({
    storage,
    ledger,
    log,
    announce,
    complete: (attempt) => completed({ storage, ledger, clock, assets, swapper }, attempt),
  });
  const { recovery: journal } = options;
  const recorded: RecordEnd = async (id, end) =>
    journal === undefined ? end : recordEnd({ journal, clock }, id, end);
  const routing = openPrivateRouting(options.privateRouting, {
    ...context,
    recordEnd: recorded,
    keys: depositKeys(options.masterSecrets, () => chain.genesisHash),
    intervalMs: options.ledgerPollMs,
    announce,
    swapper,
    ask,
  });
  const workflows: readonly AnyWorkflow[] = [transfers, deliveries, ...(routing?.workflows ?? [])];
  return { webhooks, transfers, swapper, routing, recordEnd: recorded, workflows };
}

/** The bytes to send: as they were signed, or as a module completes them. */
async function completed(deps: CompletionDeps, attempt: AttemptRecord): Promise<Uint8Array | null> {
  let bytes: Uint8Array | null = attempt.bytes;
  for (const { complete } of WAY_MODULES) {
    if (bytes !== null && complete !== undefined) bytes = await complete(deps, { ...attempt, bytes });
  }
  return bytes;
}

async function finishOrders(
  { recovery: journal }: CheckedServiceOptions,
  { storage, log }: PaymentContext,
  { engine, routing }: Pick<ServiceParts, "engine" | "routing">,
): Promise<void> {
  if (journal === undefined || routing === null) return;
  await finishEnds({ storage, journal, log, send: (id, event) => engine.send(routing.orders, id, event) });
}

function retentionOf(
  { keep, archive, archiveDeadlineMs }: CheckedServiceOptions,
  context: PaymentContext,
  charts: Charts & Pick<ServiceParts, "engine">,
): PaymentRetentionLoop {
  const { engine, routing } = charts;
  const { storage, clock } = context;
  const looking = { ...context, ...(routing === null ? {} : { prices: routing.terms.prices }) };
  const rows = oldRowsOf(
    { storage, clock, archive: archive ?? null, archiveDeadlineMs },
    {
      keep,
      ownAddresses: ownAddresses(charts),
      deliveries: charts.webhooks.deliveries,
      orders: {
        stopInstance: (id) => engine.stopInstance(id),
        look: (id) => lookAtOrder(looking, id),
        wake: async (id) => routing && engine.send(routing.orders, id, { type: "LOOK" }),
      },
    },
  );
  return new PaymentRetentionLoop(context, { keep, rows });
}

function webhookPartsOf(options: CheckedServiceOptions, context: PaymentContext): WebhookParts {
  const { storage, clock } = context;
  const { allowAddress, deny, ca, proxy, acceptAny2xx, disableAfter, allowLoopbackHttp } = options.webhooks;
  const rules = {
    ...(allowAddress === undefined ? {} : { allowAddress }),
    ...(deny === undefined ? {} : { deny }),
    ...(allowLoopbackHttp ? { allowLoopbackHttp } : {}),
  };
  const sealing = createSecretBox(options.masterSecrets, options.random);
  const delivery = createDeliveryClient({
    clock,
    ...rules,
    ...(ca === undefined ? {} : { ca }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(acceptAny2xx === undefined ? {} : { acceptAny2xx }),
  });
  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter });
  return { sealing, delivery, deliveries, rules };
}

function engineOf(
  { ledgerPollMs, leaseMs }: CheckedServiceOptions,
  { storage, ledger, clock, random, log }: PaymentContext,
  { workflows, routing }: Charts,
): Engine<PaymentTables> {
  const watching = { storage, ledger, clock, log, intervalMs: ledgerPollMs };
  return createEngine<PaymentTables>({
    storage,
    workflows,
    leaseMs,
    clock,
    random,
    watchers: {
      landing: watchLanding(watching),
      strayLanding: watchStrayLanding(watching),
      unprovable: watchUnprovable(watching),
      expired: watchExpired(watching),
      ...routing?.watchers,
    },
    logger: log,
  });
}
