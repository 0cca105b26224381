/** The payment service as its host sees it: every use case of the API as a method, and the operator's room. */
import type { AnyWorkflow } from "../engine/index.ts";
import type { Answer, RequestOptions } from "../payments/frame/accounts/answer-once.ts";
import type { ApiKeys } from "../payments/frame/accounts/api-keys.ts";
import type { Token } from "../payments/frame/assets/assets.ts";
import type { Caller } from "../payments/frame/accounts/caller.ts";
import type { CancelledTransactionBody } from "../payments/frame/transactions/cancel-transaction.ts";
import type { DurableScope, LimitStatus } from "../payments/frame/accounts/count-hit.ts";
import type { AccountBody, CreatedTransactionBody, ModuleCalls } from "../payments/modules.ts";
import type { Diagnosis, DiagnosisQuery } from "./diagnosis.ts";
import type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "../payments/frame/quotes/quote-body.ts";
import type { BalancesBody } from "../payments/frame/assets/read-balances.ts";
import type { Health } from "./read-health.ts";
import type { Reconciliation } from "./reconcile-service.ts";
import type { Page } from "../payments/frame/page.ts";
import type { TransactionBody } from "../payments/frame/transactions/transaction-schema.ts";
import type {
  QuoteRequest,
  TransactionRequest,
  ExportQuery,
  TransactionQuery,
  TransactionsQuery,
} from "../payments/frame/requests.ts";
import type { Operator } from "./open-operator.ts";
import type { InspectedEngine } from "../engine/create-engine.ts";
import type { InspectedPaymentParts } from "../payments/payment-storage.ts";
import type { LedgerCallReads } from "./ledger-call-history.ts";

/**
 * The payment service: it offers everything that the HTTP handler offers, without HTTP. Bodies are as in the contract,
 * ready for JSON.
 */
export interface PaymentService extends ApiKeys, ModuleCalls {
  /** The charts of this service, for tools that draw or test them. */
  readonly workflows: readonly AnyWorkflow[];
  /** The inspector's reads: charts, stored instances and payments. Before `start()` it counts as production. */
  readonly inspected: InspectedService;
  /**
   * Compares the options with the chain, binds the database to it, then begins to work; what an earlier process left
   * behind goes on. Throws `StartRefused` for a database of another chain or other secrets; for stablecoins that are no mints
   * of this chain or have other decimals; and on mainnet for prices that never move; `LedgerUnavailable` when endpoints serve
   * different chains; and what the storage throws. After an error nothing runs, and `start()` may be called again.
   *
   * A chain that is silent, or does not answer within 10 s, is no error: what needs no chain begins, and the comparison is
   * made again, every 15 s at most, until it has answered. Before that nothing is signed or sent, no deadline passes, and
   * no payment is taken; `health().chain` tells so. The same holds where another chain answers later.
   */
  start(): Promise<void>;
  /**
   * Takes nothing new and lets the work and the requests in hand finish for up to `timeoutMs` (default 5,000). From then on
   * the service asks its storage nothing by itself, and the storage may be closed; a request that is still in hand is
   * refused with `StorageUnusable`. Your own later calls do ask.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>;
  /** Resolves when nothing is due at the clock's present time; see `Engine.settled`. For tests on a virtual clock. */
  settled(): Promise<void>;
  /** Stops as `stop()` does, at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void>;
  /** The health of the service. Never rejects. */
  health(): Promise<Health>;
  /**
   * A caller's scopes, and the rest of the limits that the database counts; limits of `createHttpHandler` are told by
   * its endpoint.
   */
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
   * The account's transactions that match all given filters, newest first. A page may be shorter than its `limit` while
   * `hasMore` is true. Throws `VALIDATION_ERROR`.
   */
  listTransactions(
    caller: Caller,
    query?: TransactionsQuery & { readonly signal?: AbortSignal },
  ): Promise<Page<TransactionBody>>;
  /**
   * The sums of the account's transactions of up to 31 days as CSV (RFC 4180): a header, a line for each payment, fee,
   * refund, excess and cost, oldest transaction first; and `#end,<rows>` as the last line, without which it is not whole. It
   * is read in pages, as far as its reader goes, and each text has whole lines; reading it throws what the storage throws,
   * and `StorageUnusable` once the service has stopped. Rejects with `VALIDATION_ERROR`, and with `RATE_LIMIT_EXCEEDED` while
   * another export of the account is read in this process.
   */
  exportTransactions(caller: Caller, query: ExportQuery): Promise<AsyncGenerator<string, void, undefined>>;
  cancelTransaction(
    caller: Caller,
    transactionId: string,
    options?: Pick<RequestOptions, "onLimit">,
  ): Promise<CancelledTransactionBody>;
  /**
   * For operators: what the database is bound to, what each endpoint of the chain tells, whether the webhooks' proxy can be
   * reached, how it is set for real money, and a finding for each check of these. `paystate doctor` prints the findings.
   * Needs no `start()` and changes nothing. Silent endpoints and a storage that cannot be read are findings, too.
   */
  diagnose(query?: DiagnosisQuery): Promise<Diagnosis>;
  /**
   * Holds the database against the chain: explains every base unit that ever came in at a deposit address; names wallet
   * transactions whose status the chain contradicts; and lists unrecorded signatures of the sponsor and the desk. An address
   * that has paid out what this database does not know of is frozen; nothing else is changed. Needs no `start()` and may run
   * beside services at work. Rejects with `LedgerUnavailable` when the chain cannot be read to the end, with
   * `ROUTING_UNAVAILABLE` where deposits were taken while private mode is off. For operators: no caller's account limits what it tells.
   */
  reconcile(): Promise<Reconciliation>;
  /**
   * The operator's reads, decisions and settings, every act with its row in the audit log; and the balances of the
   * purses.
   */
  readonly operator: Operator;
  /**
   * Counts a request that was refused before it could reach its method, such as a cancellation whose key lacks the
   * scope: every authenticated request counts against the limits that the database keeps. Throws `RATE_LIMIT_EXCEEDED` when the window is
   * full. `createHttpHandler` does this; a host with a layer of its own may.
   */
  countRefused(caller: Caller, scope: DurableScope): Promise<LimitStatus>;
  /** The account's standing with one of these limits, without counting a request. */
  limitStatus(caller: Caller, scope: DurableScope): Promise<LimitStatus>;
}

/** The engine with its charts, and the payments. */
export interface InspectedService extends InspectedEngine {
  readonly payments: InspectedPaymentParts;
  /** Health, at most a second old. Never rejects. */
  readonly health: () => Promise<Health>;
  /** Ledger calls of this process's tasks. */
  readonly calls: LedgerCallReads;
}
