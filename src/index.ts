/** `paystate`: the payment service and its HTTP handler. The other entries have the rest: ledger, operator, inspector, engine. */
export { createPaymentService } from "./service/create-payment-service.ts";
export type { PaymentService } from "./service/payment-service.ts";
export type { PaymentServiceOptions } from "./service/payment-service-options.ts";
export type { WebhookServiceOptions } from "./payments/webhooks/webhook-options.ts"; // modules: webhooks
export type { PrivateRoutingOptions } from "./payments/private/private-routing-options.ts";
export { createHttpHandler } from "./http/create-http-handler.ts";
export type { HttpHandler, HttpHandlerOptions } from "./http/create-http-handler.ts";
export { openApiDocument } from "./http/openapi/open-api-document.ts";
export type { OpenApiDocument, OpenApiOptions } from "./http/openapi/open-api-document.ts";
export { isPaymentError, PaymentError } from "./errors/errors.ts";
export type { ErrorCode, ErrorDetails, FieldProblem } from "./errors/errors.ts";
export type { Address } from "./core/address.ts";
export { InvalidOptions } from "./core/options.ts";
export { StartRefused } from "./payments/frame/secrets/bind-database.ts";
export { verifyServiceSignature } from "./payments/webhooks/sending/signature.ts";
export { SCOPES } from "./payments/frame/accounts/caller.ts";
export type { Caller, Scope } from "./payments/frame/accounts/caller.ts";
export { KeyRefused } from "./payments/frame/accounts/api-keys.ts";
export type { Answer, RequestOptions } from "./payments/frame/accounts/answer-once.ts";
export type { MasterSecret } from "./payments/frame/secrets/secret-box.ts";
export type { Token } from "./payments/frame/assets/assets.ts";
export type { BalancesBody } from "./payments/frame/assets/read-balances.ts";
export type { CancelledTransactionBody } from "./payments/frame/transactions/cancel-transaction.ts";
export type { CreatedTransactionBody, AccountBody } from "./payments/modules.ts";
export type { CreatedTransferBody } from "./payments/frame/signed/accept-signed.ts";
export type { CreatedOrderBody } from "./payments/private/accept-order.ts";
export type { ScreenAddress } from "./payments/frame/recipients/recipients.ts";
export type { Tier } from "./payments/frame/tables/identity.ts";
export type { TransactionAttention, TransactionStatus } from "./payments/frame/tables/orders.ts";
export type { NoticeFilter } from "./payments/webhooks/notice-feed.ts";
export { NOTICE_EVENTS } from "./payments/frame/notices/notice-body.ts";
export type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "./payments/frame/quotes/quote-body.ts";
export { recoveryFile } from "./payments/private/recovery/journal-file.ts";
export type { KeepOptions } from "./payments/frame/retention/keep.ts";
export type {
  QuoteRequest,
  TransactionRequest,
  TransactionQuery,
  TransactionsQuery,
} from "./payments/frame/requests.ts";
export type {
  WebhookRequest,
  EventsQuery,
  RecoveryRequest,
  WebhookTestRequest,
  WebhookUpdateRequest,
} from "./payments/webhooks/requests.ts";
export type { PageQuery } from "./payments/frame/request-fields.ts";
export type { TestedWebhookBody } from "./payments/webhooks/test-webhook.ts";
export type { RecoveryBody } from "./payments/webhooks/recover-deliveries.ts";
export type { DeliveryBody } from "./payments/webhooks/deliveries.ts";
export type { EventBody } from "./payments/webhooks/list-events.ts";
export type { Page } from "./payments/frame/page.ts";
export type { TransactionBody } from "./payments/frame/transactions/transaction-schema.ts";
export type { WebhookBody, WholeWebhookBody } from "./payments/webhooks/webhook-fields.ts";
export type { WebhookCalls } from "./payments/webhooks/webhook-calls.ts";
export { LedgerUnavailable } from "./ledger/ledger.ts";
export { keychainSigner } from "./ledger/keychain-signer.ts";
export type { KeychainBackend } from "./ledger/keychain-signer.ts";
export { keypairSigner, signTransaction, SigningFailed } from "./ledger/sign-transaction.ts";
export type { SignedTransaction, Signer } from "./ledger/sign-transaction.ts";
export { deskProvider } from "./payments/swap/desk/desk-provider.ts";
export type { DeskOptions } from "./payments/swap/desk/desk-provider.ts";
export { jupiterProvider } from "./payments/swap/jupiter/jupiter-provider.ts";
export type { JupiterOptions } from "./payments/swap/jupiter/jupiter-provider.ts";
export { fixedPrices } from "./payments/frame/prices/prices.ts";
export type { PriceSource, Rate } from "./payments/frame/prices/prices.ts";
export type { PriceBounds } from "./payments/frame/prices/guarded-prices.ts";
