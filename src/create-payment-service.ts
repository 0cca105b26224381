/** The payment service: every use case of the contract as a method, over one engine, one storage and one ledger. */
import type { PaymentTables, PaymentWrite } from "../storage/storage.ts";
import { createEngine } from "./engine/index.ts";
import type { AnyWorkflow } from "./engine/index.ts";
import { checkOptions } from "./options.ts";
import { paymentServiceOptions } from "./payment-service-options.ts";
import type { PaymentServiceOptions } from "./payment-service-options.ts";
import { announceEffect } from "./payments/announce.ts";
import type { Answer, RequestOptions } from "./payments/answer-once.ts";
import { createApiKeys } from "./payments/api-keys.ts";
import type { ApiKeys, KeyEnvironment } from "./payments/api-keys.ts";
import { assetsWith } from "./payments/assets.ts";
import type { Stablecoins, Token } from "./payments/assets.ts";
import { bindDatabase } from "./payments/bind-database.ts";
import type { Caller } from "./payments/caller.ts";
import { cancelTransaction } from "./payments/cancel-transaction.ts";
import type { CancelledTransactionBody } from "./payments/cancel-transaction.ts";
import { createTransactionIntake } from "./payments/create-transaction.ts";
import type { CreatedTransactionBody } from "./payments/create-transaction.ts";
import { subscribeNotices } from "./payments/subscribe-notices.ts";
import type { NoticeFilter, NoticeListener } from "./payments/subscribe-notices.ts";
import { createQuotes } from "./payments/quotes.ts";
import type { QuoteBody, RefreshedQuoteBody } from "./payments/quotes.ts";
import { readBalances } from "./payments/read-balances.ts";
import type { BalancesBody } from "./payments/read-balances.ts";
import { readHealth } from "./payments/read-health.ts";
import type { Health } from "./payments/read-health.ts";
import { readTransaction } from "./payments/read-transaction.ts";
import type { TransactionBody } from "./payments/read-transaction.ts";
import type { QuoteRequest, TransactionRequest, WebhookRequest } from "./payments/requests.ts";
import { createSealing } from "./payments/sealing.ts";
import { startTransfer, walletTransferWorkflow } from "./payments/wallet-transfer-workflow.ts";
import { watchLanding, watchStrayLanding } from "./payments/watch-signatures.ts";
import { webhookDeliveryWorkflow } from "./payments/webhook-delivery-workflow.ts";
import { createWebhooks } from "./payments/webhooks.ts";
import type { WebhookBody } from "./payments/webhooks.ts";
import { createDelivery } from "./webhooks/attempt.ts";

/** What the handler can do, the service can do without it. Bodies are those of the contract, ready for JSON. */
export interface PaymentService extends ApiKeys {
  /** The charts of this service, for tools that draw or test them. */
  readonly workflows: readonly AnyWorkflow[];
  /**
   * Binds the database to the chain, then begins to work; what an earlier process left behind goes on. Throws
   * `StartRefused` for a database of another chain or other secrets, `LedgerUnavailable` when the chain is silent.
   */
  start(): Promise<void>;
  /** Takes nothing new and lets the work in hand finish for up to `timeoutMs` (default 5,000). */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Resolves when nothing is due at the clock's present time; see `Engine.settled`. For tests on a virtual clock. */
  settled(): Promise<void>;
  /** Stops as `stop()` does, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
  /** How the service is. Never rejects. */
  health(): Promise<Health>;
  tokens(): { readonly tokens: readonly Token[] };
  balances(address: string): Promise<BalancesBody>;
  createQuote(caller: Caller, request: QuoteRequest, options?: RequestOptions): Promise<Answer<QuoteBody>>;
  refreshQuote(
    caller: Caller,
    quoteId: string,
    options?: RequestOptions,
  ): Promise<Answer<RefreshedQuoteBody>>;
  /**
   * Takes a caller-signed transaction. Resolves once it is durable, together with its quote being used up and its
   * answer being stored; its broadcast follows. Throws a `PaymentError` when anything does not fit, and nothing is kept.
   */
  createTransaction(
    caller: Caller,
    request: TransactionRequest,
    options?: RequestOptions,
  ): Promise<Answer<CreatedTransactionBody>>;
  transaction(caller: Caller, transactionId: string): Promise<TransactionBody>;
  cancelTransaction(
    caller: Caller,
    transactionId: string,
    options?: Pick<RequestOptions, "onLimit">,
  ): Promise<CancelledTransactionBody>;
  registerWebhook(
    caller: Caller,
    request: WebhookRequest,
    options?: RequestOptions,
  ): Promise<Answer<WebhookBody>>;
  webhooks(caller: Caller): Promise<{ readonly webhooks: readonly WebhookBody[] }>;
  deleteWebhook(
    caller: Caller,
    webhookId: string,
  ): Promise<{ readonly webhookId: string; readonly deleted: true }>;
  /**
   * Tells a listener of notices as this process commits them, without a webhook. For screens and logs: what must not
   * be missed, also while this process is down, belongs to a webhook. Returns the way to stop.
   */
  subscribe(filter: NoticeFilter, listener: NoticeListener): () => void;
}

// Solana's mainnet; a live key anywhere else, or a test key here, is a mistake worth stopping.
const MAINNET_GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

/** Builds the service; nothing runs before `start()`. Throws `InvalidOptions` listing every wrong option. */
export function createPaymentService(options: PaymentServiceOptions): PaymentService {
  const checked = checkOptions("createPaymentService", paymentServiceOptions, options);
  const { storage, ledger, clock, random, logger: log, masterSecrets, broadcastDelayMs } = checked;
  const { allowAddress, ca, acceptAny2xx } = checked.webhooks;
  const assets = assetsWith(checked.stablecoins as Stablecoins);
  const sealing = createSealing(masterSecrets, random);
  const delivery = createDelivery({
    clock,
    ...(allowAddress === undefined ? {} : { allowAddress }),
    ...(ca === undefined ? {} : { ca }),
    ...(acceptAny2xx === undefined ? {} : { acceptAny2xx }),
  });

  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing });
  const announce = announceEffect({ storage, assets, deliveries });
  const transfers = walletTransferWorkflow({ storage, ledger, log, announce });
  const watching = { storage, ledger, log, intervalMs: checked.ledgerPollMs };
  const workflows: readonly AnyWorkflow[] = [transfers, deliveries];
  const engine = createEngine<PaymentTables>({
    storage,
    workflows,
    watchers: { landing: watchLanding(watching), strayLanding: watchStrayLanding(watching) },
    leaseMs: checked.leaseMs,
    clock,
    random,
    logger: log,
  });

  const commit = async (writes: readonly PaymentWrite[]): Promise<boolean> =>
    (await engine.commit({ writes })).ok;
  const shared = { storage, ledger, clock, random, assets };
  let keyEnvironments: readonly KeyEnvironment[] = ["live", "test"];
  const apiKeys = createApiKeys({ storage, clock, random, environments: () => keyEnvironments });
  const quotes = createQuotes({ ...shared, commit });
  const createTransaction = createTransactionIntake({
    ...shared,
    commit: (companions) => engine.commit(companions),
    startTransfer: (id, signature) => startTransfer(transfers, id, signature, broadcastDelayMs),
  });
  const hooks = createWebhooks({
    ...shared,
    sealing,
    delivery,
    commit,
    ...(allowAddress === undefined ? {} : { allowAddress }),
  });

  return {
    ...apiKeys,
    workflows,
    async start() {
      const genesisHash = await ledger.genesisHash();
      await bindDatabase(storage, genesisHash, masterSecrets);
      keyEnvironments = genesisHash === MAINNET_GENESIS ? ["live"] : ["test"];
      engine.run();
    },
    stop: (stopOptions) => engine.stop(stopOptions),
    settled: () => engine.settled(),
    [Symbol.asyncDispose]: () => engine.stop(),
    health: () => readHealth({ storage, ledger, clock, workflowKeys: workflows.map(({ key }) => key) }),
    tokens: () => ({ tokens: assets.tokens }),
    balances: (address) => readBalances({ ledger, assets }, address),
    createQuote: quotes.create,
    refreshQuote: quotes.refresh,
    createTransaction,
    transaction: (caller, transactionId) => readTransaction({ storage, assets }, caller, transactionId),
    cancelTransaction: (caller, transactionId, requestOptions) =>
      cancelTransaction(
        { storage, clock, random, engine, workflow: transfers },
        caller,
        transactionId,
        requestOptions,
      ),
    registerWebhook: hooks.register,
    webhooks: hooks.list,
    deleteWebhook: hooks.delete,
    subscribe: (filter, listener) => subscribeNotices({ engine, storage, assets, log }, filter, listener),
  };
}
