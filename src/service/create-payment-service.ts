/** The payment service: every use case of the contract as a method, over one engine, one storage and one ledger. */
import type { PaymentWrite } from "../payments/payment-storage.ts";
import type { PaymentTables } from "../payments/records.ts";
import { createEngine } from "../engine/index.ts";
import type { Inspected } from "../engine/inspected.ts";
import type { AnyWorkflow } from "../engine/index.ts";
import { PaymentError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { redactingLogger } from "../redacting-log.ts";
import { paymentServiceOptions } from "./payment-service-options.ts";
import type { PaymentServiceOptions } from "./payment-service-options.ts";
import { announceEffect } from "../payments/webhooks/announce.ts";
import type { Answer, RequestOptions } from "../payments/accounts/answer-once.ts";
import { createApiKeys } from "../payments/accounts/api-keys.ts";
import type { ApiKeys, KeyEnvironment } from "../payments/accounts/api-keys.ts";
import { assetsWith, MAINNET_GENESIS } from "../payments/assets/assets.ts";
import type { Stablecoins, Token } from "../payments/assets/assets.ts";
import { bindDatabase, refuseOtherChain } from "../payments/secrets/bind-database.ts";
import type { Caller } from "../payments/accounts/caller.ts";
import { checkMints } from "../payments/assets/check-mints.ts";
import { cancelTransaction } from "../payments/transactions/cancel-transaction.ts";
import type { CancelledTransactionBody } from "../payments/transactions/cancel-transaction.ts";
import { countHit, limitStanding } from "../payments/accounts/count-hit.ts";
import type { DurableScope, LimitStanding } from "../payments/accounts/count-hit.ts";
import { createTransactionIntake } from "../payments/transactions/create-transaction.ts";
import type { CreatedTransactionBody } from "../payments/transactions/create-transaction.ts";
import { subscribeNotices } from "../payments/webhooks/subscribe-notices.ts";
import type { NoticeFilter, NoticeListener } from "../payments/webhooks/subscribe-notices.ts";
import { createQuotes } from "../payments/quotes/quotes.ts";
import type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "../payments/quotes/quote-body.ts";
import { readAccount } from "../payments/accounts/read-account.ts";
import type { AccountBody } from "../payments/accounts/read-account.ts";
import { readBalances } from "../payments/assets/read-balances.ts";
import type { BalancesBody } from "../payments/assets/read-balances.ts";
import { readHealth } from "./read-health.ts";
import type { Health } from "./read-health.ts";
import { reconcile } from "../payments/reconcile/reconcile.ts";
import type { Reconciliation } from "../payments/reconcile/reconcile.ts";
import { StatusWaiters } from "../payments/transactions/await-status.ts";
import { webhookDeliveries } from "../payments/webhooks/deliveries.ts";
import type { RecoveryBody } from "../payments/webhooks/deliveries.ts";
import type { DeliveryBody } from "../payments/webhooks/delivery-body.ts";
import { listEvents, listTransactionEvents } from "../payments/webhooks/list-events.ts";
import type { EventBody } from "../payments/webhooks/list-events.ts";
import { listTransactions } from "../payments/transactions/list-transactions.ts";
import type { Page } from "../payments/page.ts";
import { showTransaction } from "../payments/transactions/show-transaction.ts";
import type { TransactionBody } from "../payments/transactions/read-transaction.ts";
import type {
  QuoteRequest,
  TransactionRequest,
  WebhookRequest,
  WebhookTest,
  EventsQuery,
  PageQuery,
  Recovery,
  TransactionQuery,
  TransactionsQuery,
  WebhookUpdate,
} from "../payments/requests.ts";
import { openPurses } from "./open-purses.ts";
import { createAmountChecks } from "../payments/intake/amounts.ts";
import { journaled } from "../payments/operator/recovery/journal.ts";
import { createIntake } from "../payments/intake/intake.ts";
import { openOperator } from "./open-operator.ts";
import type { Operator } from "../payments/operator/operator.ts";
import { paymentStorage } from "../payments/reads.ts";
import { createSealing } from "../payments/secrets/sealing.ts";
import { acceptOrder } from "../payments/private/accept-order.ts";
import type { AcceptOrder } from "../payments/private/accept-order.ts";
import { depositKeys } from "../payments/secrets/deposit-keys.ts";
import { hasDeposit } from "../payments/private/has-deposit.ts";
import { openPrivateRouting } from "./open-private-routing.ts";
import { orderReturn } from "../payments/private/order-return.ts";
import type { OrderedReturn, ReturnOrder } from "../payments/private/order-return.ts";
import { releaseDeposit } from "../payments/private/release-deposit.ts";
import type { ReleasedDeposit } from "../payments/private/release-deposit.ts";
import { completeExchange } from "../payments/swap/complete-exchange.ts";
import { createExchangeExamination } from "../payments/swap/examine-exchange.ts";
import { startTransfer, walletTransferWorkflow } from "../payments/wallet/wallet-transfer-workflow.ts";
import { settleTransaction, writeOffTransaction } from "../payments/wallet/settle-transaction.ts";
import type { SettledTransaction } from "../payments/wallet/settle-transaction.ts";
import { watchExpired, watchUnprovable } from "../payments/wallet/watch-unsettled.ts";
import { watchLanding, watchStrayLanding } from "../payments/wallet/watch-signatures.ts";
import { webhookDeliveryWorkflow } from "../payments/webhooks/webhook-delivery-workflow.ts";
import { webhookTests } from "../payments/webhooks/test-webhook.ts";
import type { TestedWebhookBody } from "../payments/webhooks/test-webhook.ts";
import { webhookUpdates } from "../payments/webhooks/update-webhook.ts";
import type { WebhookBody, WholeWebhookBody } from "../payments/webhooks/webhook-body.ts";
import { createWebhooks } from "../payments/webhooks/webhooks.ts";
import { createDelivery } from "../payments/webhooks/sending/attempt.ts";

/** What the handler can do, the service can do without it. Bodies are those of the contract, ready for JSON. */
export interface PaymentService extends ApiKeys {
  /** The charts of this service, for tools that draw or test them. */
  readonly workflows: readonly AnyWorkflow[];
  /** What the inspector reads: the charts and the stored instances. Before `start()` it counts as production. */
  readonly inspected: Inspected;
  /**
   * Compares the options with the chain, binds the database to it, then begins to work; what an earlier process left
   * behind goes on. Throws `StartRefused` for a database of another chain or other secrets, for stablecoins that are no
   * mints of this chain or have other decimals, and on mainnet for prices that never move; `LedgerUnavailable` when the
   * chain is silent. After an error nothing runs, and `start()` may be called again.
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
  /** What a caller may do, and what is left of the limits that the database counts; those of `createHttpHandler` are told by its endpoint. */
  account(caller: Caller): Promise<AccountBody>;
  tokens(): { readonly tokens: readonly Token[] };
  balances(address: string): Promise<BalancesBody>;
  createQuote(caller: Caller, request: QuoteRequest, options?: RequestOptions): Promise<Answer<QuoteBody>>;
  /** A quote as it stands, without the transaction to sign. Throws `QUOTE_NOT_FOUND`. */
  quote(caller: Caller, quoteId: string): Promise<ShownQuoteBody>;
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
  /**
   * A transaction as it stands. With `wait`, whole seconds from 0 to 25, a transaction that is not final is answered when
   * its status changes, or after that time. Throws `TRANSACTION_NOT_FOUND`, `VALIDATION_ERROR`.
   */
  transaction(
    caller: Caller,
    transactionId: string,
    options?: TransactionQuery & { readonly signal?: AbortSignal },
  ): Promise<TransactionBody>;
  /**
   * The account's transactions, newest first: those that fit every filter that is given. A page may be shorter than its
   * `limit` while `hasMore` is true. Throws `VALIDATION_ERROR`.
   */
  listTransactions(caller: Caller, query?: TransactionsQuery): Promise<Page<TransactionBody>>;
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
  webhooks(caller: Caller): Promise<{ readonly webhooks: readonly WholeWebhookBody[] }>;
  webhook(caller: Caller, webhookId: string): Promise<WholeWebhookBody>;
  /**
   * Changes what is named and nothing else. A new `url` counts as a registration and is checked like one. A new `secret`
   * signs at once, and the one before for `webhooks.secretOverlapMs` longer; null ends signing. While a webhook is not
   * enabled nothing is started for it, and what becomes due is dropped. Throws what registering throws,
   * `WEBHOOK_NOT_FOUND`, and `VALIDATION_ERROR` for an empty change.
   */
  updateWebhook(
    caller: Caller,
    webhookId: string,
    request: WebhookUpdate,
    options?: Pick<RequestOptions, "onLimit">,
  ): Promise<WholeWebhookBody>;
  /**
   * Sends one sample notice of this event to a webhook, signed like a real one, whether or not it is enabled and subscribed
   * to the event. One attempt, never repeated and never listed: its `transactionId` begins with `tx_test_`. Resolves
   * whatever the receiver does. Throws `WEBHOOK_NOT_FOUND`, `INVALID_EVENTS`, `VALIDATION_ERROR`.
   */
  testWebhook(
    caller: Caller,
    webhookId: string,
    request: WebhookTest,
    options?: RequestOptions,
  ): Promise<Answer<TestedWebhookBody>>;
  /**
   * What webhooks were told since the account exists, newest first, or with `order: "asc"` oldest first. The list grows at
   * its new end only: read on from the last id that was read, nothing is missed. Throws `VALIDATION_ERROR`.
   */
  events(caller: Caller, query?: EventsQuery): Promise<Page<EventBody>>;
  /** The timeline of one transaction. Throws `TRANSACTION_NOT_FOUND`, `VALIDATION_ERROR`. */
  transactionEvents(caller: Caller, transactionId: string, query?: EventsQuery): Promise<Page<EventBody>>;
  /** A webhook's deliveries with their attempts, newest first. Throws `WEBHOOK_NOT_FOUND`, `VALIDATION_ERROR`. */
  deliveries(caller: Caller, webhookId: string, query?: PageQuery): Promise<Page<DeliveryBody>>;
  /**
   * Sends a notice once more, the same id and the same bytes, with six attempts of its own; of a delivery that waits for
   * its next attempt it ends the pause. Throws `WEBHOOK_NOT_FOUND`, `DELIVERY_NOT_FOUND`, and `VALIDATION_ERROR` while the
   * webhook is disabled.
   */
  redeliver(
    caller: Caller,
    ids: { readonly webhookId: string; readonly deliveryId: string },
    options?: RequestOptions,
  ): Promise<Answer<DeliveryBody>>;
  /**
   * Sends once more whatever happened since then, is subscribed to, and was not delivered, also what was never tried
   * because the webhook was disabled: oldest first, at most 250 at a time. What is still being tried is left alone. Throws
   * `WEBHOOK_NOT_FOUND`, and `VALIDATION_ERROR` also while the webhook is disabled.
   */
  recoverWebhook(
    caller: Caller,
    webhookId: string,
    request: Recovery,
    options?: RequestOptions,
  ): Promise<Answer<RecoveryBody>>;
  deleteWebhook(
    caller: Caller,
    webhookId: string,
  ): Promise<{ readonly webhookId: string; readonly deleted: true }>;
  /**
   * Holds the database against the chain: explains every base unit that ever came in at a deposit address, says which
   * wallet transactions became something else than their status says, and what the sponsor and the desk have signed that
   * is on no record. An address that has paid out what this database does not know of is frozen; nothing else is changed.
   * Needs no `start()` and may run beside services at work. Rejects with `LedgerUnavailable` when the chain cannot be read
   * to the end, with `ROUTING_UNAVAILABLE` where deposits were taken while private mode is off. For operators: no caller's account limits what it tells.
   */
  reconcile(): Promise<Reconciliation>;
  /**
   * For operators, like `reconcile`: lets go of the deposit address of an order, whatever it is held for and however long
   * ago it was closed, and has it settled anew as soon as a service is at work. Says that every transaction the address
   * has signed was rightly signed, that whoever paid in may be served, and that the sponsor may spend as much again. Needs
   * no `start()`. Throws `TRANSACTION_NOT_FOUND`, also while private mode is off, `LedgerUnavailable`, and `ReleaseRefused`
   * with a sentence for an open order whose address has paid what this database does not know.
   */
  releaseDeposit(transactionId: string): Promise<ReleasedDeposit>;
  /**
   * For operators: settles a wallet transaction by the signature under which it landed. The evidence is read from the
   * chain: at least one endpoint must show this very message finalized and none may contradict it. A transaction that was
   * failed as expired, or cancelled, keeps its status and is shown as `landedAfterCancel`. Done twice it is done once.
   * Throws `TRANSACTION_NOT_FOUND`, `SettleRefused` with a sentence, and `LedgerUnavailable`.
   */
  settleTransaction(transactionId: string, signature: string): Promise<SettledTransaction>;
  /**
   * For operators: fails an unprovable wallet transaction, on their word that it never landed. Throws
   * `TRANSACTION_NOT_FOUND`, and `SettleRefused` with a sentence where any endpoint shows a trace of it, where it may still
   * land, and where too few endpoints answer.
   */
  writeOffTransaction(transactionId: string): Promise<SettledTransaction>;
  /**
   * For operators, like `releaseDeposit`: has tokens of a mint that is none of the service's assets, Token-2022 included,
   * sent out of the deposit address of an order that is over, to its sender or to the owner that is named. The sponsor may
   * spend as much again for it. Ordered twice it is done once. Needs no `start()`; a service at work does it. Throws
   * `TRANSACTION_NOT_FOUND`, `INVALID_ASSET`, `INVALID_ADDRESS`, `INVALID_RECIPIENT`, `LedgerUnavailable`, and
   * `ReleaseRefused` with a sentence for what is not there, cannot move, or has to wait.
   */
  returnTokens(transactionId: string, order: ReturnOrder): Promise<OrderedReturn>;
  /** What an operator sees, decides and sets, each act of it in the audit log; and what the purses hold. */
  readonly operator: Operator;
  /**
   * Counts a request that was refused before it could reach its method, such as a cancellation whose key lacks the
   * scope: every authenticated request counts against the limits that the database keeps. Throws `RATE_LIMIT_EXCEEDED` when the window is
   * full. `createHttpHandler` does this; a host with a layer of its own may.
   */
  countRefused(caller: Caller, scope: DurableScope): Promise<LimitStanding>;
  /** How an account stands with one of these limits, without counting anything. */
  limitStanding(caller: Caller, scope: DurableScope): Promise<LimitStanding>;
  /**
   * Tells a listener of notices as this process commits them, without a webhook. For screens and logs: what must not
   * be missed, also while this process is down, belongs to a webhook. Returns the way to stop.
   */
  subscribe(filter: NoticeFilter, listener: NoticeListener): () => void;
}

/** How long `stop` waits by default. */
const STOP_MS = 5_000;

/** What is advised while private mode is off: nobody knows for how long. */
const PAUSED_SECONDS = 60;

/** Builds the service; nothing runs before `start()`. Throws `InvalidOptions` listing every wrong option. */
export function createPaymentService(options: PaymentServiceOptions): PaymentService {
  const checked = checkOptions("createPaymentService", paymentServiceOptions, options);
  const { ledger, clock, random, masterSecrets, broadcastDelayMs } = checked;
  const storage = paymentStorage(checked.storage);
  const log = redactingLogger(
    checked.logger,
    masterSecrets.map(({ secret }) => secret),
  );
  const { allowAddress, deny, ca, acceptAny2xx, secretOverlapMs, disableAfter } = checked.webhooks;
  const rules = {
    ...(allowAddress === undefined ? {} : { allowAddress }),
    ...(deny === undefined ? {} : { deny }),
  };
  const assets = assetsWith(checked.stablecoins as Stablecoins);
  const sealing = createSealing(masterSecrets, random);
  const delivery = createDelivery({
    clock,
    ...rules,
    ...(ca === undefined ? {} : { ca }),
    ...(acceptAny2xx === undefined ? {} : { acceptAny2xx }),
  });

  const deliveries = webhookDeliveryWorkflow({ storage, clock, delivery, sealing, disableAfter });
  const announce = announceEffect({ storage, clock, assets, deliveries });
  const exchanger = checked.swap?.provider.connect({ ledger, tokens: assets.tokens, clock, log }) ?? null;
  const transfers = walletTransferWorkflow({
    ...{ storage, ledger, log, announce },
    completeExchange: (attempt) => completeExchange({ storage, clock, assets, exchanger }, attempt),
  });
  const intervalMs = checked.ledgerPollMs;
  const watching = { storage, ledger, clock, log, intervalMs };
  let chain: string | null = null;
  const routing = openPrivateRouting(checked.privateRouting, {
    keys: depositKeys(masterSecrets, () => startedOn(chain)),
    intervalMs,
    announce,
    ...{ storage, ledger, clock, log, assets, exchanger },
  });
  const purses = openPurses(
    { storage, ledger, clock, assets },
    { routing, exchanger, deskLowBalance: checked.swap?.lowBalance ?? {} },
  );
  const workflows: readonly AnyWorkflow[] = [transfers, deliveries, ...(routing?.workflows ?? [])];
  const engine = createEngine<PaymentTables>({
    storage,
    workflows,
    watchers: {
      landing: watchLanding(watching),
      strayLanding: watchStrayLanding(watching),
      unprovable: watchUnprovable(watching),
      expired: watchExpired(watching),
      ...routing?.watchers,
    },
    leaseMs: checked.leaseMs,
    clock,
    random,
    logger: log,
  });

  const waiters = new StatusWaiters(storage, clock, engine);
  const commit = async (writes: readonly PaymentWrite[]): Promise<boolean> =>
    (await engine.commit({ writes })).ok;
  const shared = { storage, ledger, clock, random, assets };
  let keyEnvironments: readonly KeyEnvironment[] = ["live", "test"];
  const apiKeys = createApiKeys({ storage, clock, random, environments: () => keyEnvironments });
  const intake = createIntake(shared);
  const amounts = createAmountChecks(shared);
  const quotes = createQuotes({
    ...shared,
    commit,
    pricing: routing?.pricing ?? null,
    exchanger,
    intake,
    amounts,
  });
  const createTransaction = createTransactionIntake({
    ...{ ...shared, intake, amounts },
    commit: (companions) => engine.commit(companions),
    startTransfer: (id, signature, reservations) =>
      startTransfer(transfers, id, signature, broadcastDelayMs, reservations),
    exchanges: createExchangeExamination({ ...shared, exchanger }),
    acceptOrder:
      routing === null
        ? null
        : withJournal(
            acceptOrder({
              ...{ ...shared, routing, exchanger },
              commit: (companions) => engine.commit(companions),
            }),
          ),
  });
  const aboutHooks = { ...shared, sealing, delivery, commit, secretOverlapMs, rules };
  const hooks = createWebhooks(aboutHooks);
  const updateWebhook = webhookUpdates(aboutHooks);
  const testWebhook = webhookTests(aboutHooks);
  const sent = webhookDeliveries({ storage, clock, engine, workflow: deliveries });

  const { operator, report, countMatters } = openOperator({
    ...{ ...shared, log, engine, workflows, transfers, routing, exchanger, purses },
    masterVersions: masterSecrets.map(({ version }) => version),
    bindToChain: () => bindToChain(),
    onAttention: checked.onAttention ?? null,
    approvals: checked.approvals,
  });

  /** Each order is written down by the host before its address is known to anybody. */
  function withJournal(accept: AcceptOrder): AcceptOrder {
    const journal = checked.recovery;
    const masterVersion = masterSecrets[0]?.version ?? 0;
    return journal === undefined ? accept : journaled(accept, { journal, masterVersion, clock });
  }

  const bindToChain = async (): Promise<string> => {
    const genesisHash = await ledger.genesisHash();
    await bindDatabase(storage, genesisHash, masterSecrets);
    chain = genesisHash;
    return genesisHash;
  };

  const stop = async (stopOptions: { readonly timeoutMs?: number } = {}): Promise<void> => {
    const { timeoutMs = STOP_MS } = stopOptions;
    waiters.stop();
    await Promise.all([engine.stop({ timeoutMs }), report.stop(timeoutMs)]);
    await delivery.endIdle();
  };

  return {
    ...apiKeys,
    workflows,
    inspected: { workflows, storage, isProduction: () => keyEnvironments.includes("live") },
    async start() {
      const genesisHash = await ledger.genesisHash();
      await refuseOtherChain(storage, genesisHash);
      await checkMints({ ledger, log }, assets, {
        areConfigured: options.stablecoins !== undefined || genesisHash === MAINNET_GENESIS,
      });
      await exchanger?.check(genesisHash);
      await routing?.check(genesisHash);
      await bindToChain();
      // A live key anywhere else, or a test key there, is a mistake worth stopping.
      keyEnvironments = genesisHash === MAINNET_GENESIS ? ["live"] : ["test"];
      waiters.start();
      engine.run();
      report.run();
    },
    stop,
    settled: () => engine.settled(),
    [Symbol.asyncDispose]: () => stop(),
    health: () =>
      readHealth({
        ...{ storage, ledger, clock, countMatters, workflowKeys: workflows.map(({ key }) => key) },
        watching: () => engine.watching(),
      }),
    account: (caller) => readAccount({ storage, clock }, caller),
    tokens: () => ({ tokens: assets.tokens }),
    balances: (address) => readBalances({ ledger, assets }, address),
    createQuote: quotes.create,
    quote: quotes.read,
    refreshQuote: quotes.refresh,
    createTransaction,
    transaction: showTransaction({ storage, assets, waiters }),
    listTransactions: (caller, query) => listTransactions({ storage, assets }, caller, query),
    cancelTransaction: (caller, transactionId, requestOptions) =>
      cancelTransaction(
        {
          ...{ storage, clock, random, engine, transfers },
          orders: routing?.orders ?? null,
          hasDeposit: (transaction) => hasDeposit({ storage, ledger, assets }, transaction),
        },
        caller,
        transactionId,
        requestOptions,
      ),
    registerWebhook: hooks.register,
    webhooks: hooks.list,
    webhook: hooks.read,
    updateWebhook,
    testWebhook,
    events: (caller, query) => listEvents({ storage }, caller, query),
    transactionEvents: (caller, transactionId, query) =>
      listTransactionEvents({ storage, assets }, caller, transactionId, query),
    deliveries: sent.list,
    redeliver: sent.redeliver,
    recoverWebhook: sent.recover,
    deleteWebhook: hooks.delete,
    async reconcile() {
      if (routing === null && (await storage.depositsAfter("", 1)).length > 0) {
        throw new PaymentError("ROUTING_UNAVAILABLE", { reason: "paused", retryAfter: PAUSED_SECONDS });
      }
      await bindToChain();
      const sponsor = routing?.terms.sponsor.address ?? null;
      const desk = exchanger?.direct?.signer.address ?? null;
      return reconcile({
        ...shared,
        routing: routing && { ...shared, log, keys: routing.keys, sponsor: routing.terms.sponsor.address },
        purses: [
          ...(sponsor === null ? [] : [{ purse: "sponsor" as const, address: sponsor }]),
          ...(desk === null ? [] : [{ purse: "desk" as const, address: desk }]),
        ],
      });
    },
    async releaseDeposit(transactionId) {
      if (routing === null) throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
      await bindToChain();
      return releaseDeposit({ storage, ledger, engine, ...routing }, transactionId);
    },
    settleTransaction: (transactionId, signature) =>
      settleTransaction({ storage, ledger, engine, transfers }, transactionId, signature),
    writeOffTransaction: (transactionId) =>
      writeOffTransaction({ storage, ledger, engine, transfers }, transactionId),
    async returnTokens(transactionId, order) {
      if (routing === null) throw new PaymentError("TRANSACTION_NOT_FOUND", { transactionId });
      await bindToChain();
      const { keys, addresses, terms } = routing;
      const sponsor = terms.sponsor.address;
      return orderReturn({ storage, ledger, engine, assets, keys, addresses, sponsor }, transactionId, order);
    },
    operator,
    countRefused: async (caller, scope) =>
      (await countHit({ storage, clock, random }, caller, scope)).standing,
    limitStanding: (caller, scope) => limitStanding({ storage, clock }, caller, scope),
    subscribe: (filter, listener) => subscribeNotices({ engine, storage, assets, log }, filter, listener),
  };
}

/** Keys of deposit addresses belong to one chain, which is known once the service has started. */
function startedOn(chain: string | null): string {
  if (chain === null) throw new Error("start() the payment service first: it is not bound to its chain yet");
  return chain;
}
