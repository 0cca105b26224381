/** `paystate`: the payment service and its HTTP handler. Storage, ledger, charts and engine have entries of their own. */
export { createPaymentService } from "./service/create-payment-service.ts";
export type { PaymentService } from "./service/payment-service.ts";
export type { PaymentServiceOptions } from "./service/payment-service-options.ts";
export type { PrivateRoutingOptions } from "./payments/private/private-routing-options.ts";
export { createHttpHandler } from "./http/create-http-handler.ts";
export { createInspector } from "./http/create-inspector.ts";
export type {
  InspectedEngineOptions,
  InspectedStorageOptions,
  InspectorOptions,
} from "./http/create-inspector.ts";
export type { Authorize as InspectorAuthorize } from "./inspector/admit-viewer.ts";
export type { HttpHandler, HttpHandlerOptions } from "./http/create-http-handler.ts";
export { openApiDocument } from "./http/openapi/open-api-document.ts";
export type { OpenApiDocument, OpenApiOptions } from "./http/openapi/open-api-document.ts";
export { isPaymentError, PaymentError } from "./errors/errors.ts";
export type { ErrorCode, ErrorDetails, FieldProblem } from "./errors/errors.ts";
export type { Address } from "./core/address.ts";
export { InvalidOptions } from "./core/options.ts";
export { StartRefused } from "./payments/frame/secrets/bind-database.ts";
export type { PurseBody, PurseReading } from "./payments/frame/purses/purses.ts";
export { verifyServiceSignature } from "./payments/webhooks/sending/signature.ts";
export { SCOPES } from "./payments/frame/accounts/caller.ts";
export type { Caller, Scope } from "./payments/frame/accounts/caller.ts";
export { KeyRefused } from "./payments/frame/accounts/api-keys.ts";
export type {
  IssuedKey,
  IssueKey,
  KeyEnvironment,
  RotateKeyOptions,
  ListedKey,
  NewAccount,
  RotatedKey,
} from "./payments/frame/accounts/api-keys.ts";
export type { Answer, RequestOptions } from "./payments/frame/accounts/answer-once.ts";
export type { DurableScope, LimitStatus } from "./payments/frame/accounts/count-hit.ts";
export type { MasterSecret } from "./payments/frame/secrets/secret-box.ts";
export type { Token } from "./payments/frame/assets/assets.ts";
export type { BalancesBody } from "./payments/frame/assets/read-balances.ts";
export type { Diagnosis, DiagnosisQuery } from "./service/diagnosis.ts";
export type { ServiceSettings } from "./service/diagnosis.ts";
export type { MasterSecretStatus } from "./payments/frame/secrets/bind-database.ts";
export type { ChainStatus } from "./service/chain-check.ts";
export type { Health } from "./service/read-health.ts";
export type { DeliveryBacklog } from "./payments/webhooks/delivery-backlog.ts";
export type { CancelledTransactionBody } from "./payments/frame/transactions/cancel-transaction.ts";
export type { CreatedTransactionBody } from "./payments/modules.ts";
export type { CreatedTransferBody } from "./payments/frame/signed/accept-signed.ts";
export type { CreatedOrderBody } from "./payments/private/accept-order.ts";
export type { ScreenAddress } from "./payments/frame/recipients/recipients.ts";
export type { Tier } from "./payments/frame/tables/identity.ts";
export type { TransactionAttention, TransactionStatus } from "./payments/frame/tables/orders.ts";
export type { NoticeFilter } from "./payments/webhooks/notice-feed.ts";
export { NOTICE_EVENTS } from "./payments/frame/notices/notice-body.ts";
export type { Notice, NoticeEvent, NoticeRecipient } from "./payments/frame/notices/notice-body.ts";
export type { AccountBody } from "./payments/modules.ts";
export type { QuoteBody, RefreshedQuoteBody, ShownQuoteBody } from "./payments/frame/quotes/quote-body.ts";
export type { NamedLanding, SettledTransaction } from "./payments/frame/acts/evidence.ts";
export { OperatorRefused } from "./payments/frame/acts/act.ts";
export type { Erasure, ErasureResult } from "./payments/operator/erasing.ts";
export type { OperatorInstanceReads } from "./payments/operator/operator.ts";
export type { Operator } from "./service/open-operator.ts";
export type { ActContext } from "./payments/frame/intake/rules.ts";
export type { ActName } from "./payments/frame/acts/act.ts";

export { recoveryFile } from "./payments/private/recovery/journal-file.ts";
export type {
  EndLine,
  JournalLine,
  OrderLine,
  RecoveryJournal,
} from "./payments/private/recovery/journal.ts";
export type { RecoverCommand, RecoveredOrder } from "./payments/private/recovery/recover.ts";
export type { Matter, MatterAction, MatterKind } from "./payments/frame/acts/matter.ts";
export type { ArchivedRow } from "./payments/frame/retention/removal.ts";
export type { Archive, Duration, RemovalStatus } from "./engine/index.ts";
export type { KeepOptions, CheckedKeepOptions } from "./payments/frame/retention/keep.ts";
export type { PaymentRetentionStatus } from "./payments/frame/retention/payment-retention.ts";
export type { AttentionChange, AttentionListener } from "./payments/operator/attention/matter-report-loop.ts";
export type { Approval, ResolveResult, ResolveCommand } from "./payments/frame/acts/command.ts";

export type { AuditEntry, AuditPage } from "./payments/frame/acts/act.ts";
export type { LimitEntry, SetLimitsRequest } from "./payments/operator/gates/limiting.ts";
export type { Direction } from "./payments/frame/intake/rules.ts";
export type { PausedEntry, PausedScope } from "./payments/operator/gates/pausing.ts";
export type { SuspendedAccount } from "./payments/operator/gates/pausing.ts";
export type { AddressTally } from "./payments/private/reconcile/tally.ts";
export type { AssetTally, AddressReconciliation } from "./payments/private/reconcile/orders.ts";
export type { PurseReconciliation } from "./payments/operator/reconcile/purses.ts";
export type { Reconciliation } from "./service/reconcile-service.ts";
export type { MendedTotal } from "./payments/operator/reconcile/purses.ts";
export type { WalletReconciliation, WalletFinding } from "./payments/operator/reconcile/wallet.ts";
export type { AddressReport, Finding } from "./payments/private/reconcile/findings.ts";
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
export type {
  NodeCalledEvent,
  RequestAnsweredEvent,
  TaskEndedEvent,
  WebhookCalledEvent,
} from "./core/diagnostics.ts";
export type { Clock, Logger, Random } from "./core/runtime.ts";
export { agreed } from "./ledger/agreed.ts";
export type { Evidence, Hint, EvidenceBrand, HintBrand } from "./ledger/belief.ts";
export { heard } from "./ledger/heard.ts";
export { LedgerUnavailable } from "./ledger/ledger.ts";
export type {
  AccountKind,
  Attempt as BroadcastAttempt,
  Balances as WalletBalances,
  Commitment,
  DeclaredPayment,
  ExaminedPayment,
  WantedPayment,
  EndpointDispute,
  EndpointRole,
  EndpointStatus,
  RateLimitedEndpoint,
  AttemptLook,
  Standing as AttemptStanding,
  FirmCommitment,
  Holding as WalletHolding,
  Landing,
  LandingRefusal,
  Ledger,
  LedgerReads,
  MintMetadata,
  PaymentCost,
  Reading as LedgerReading,
  ReadLimit,
  Receipt as LandingReceipt,
  WitnessRules as LedgerRestriction,
  Sighting,
  SignatureStatus,
  SimulationFault,
  TokenAccountState,
  Transfer as DeclaredTransfer,
  UnsignedPayment,
  VerifiedPayment,
  WitnessCount,
} from "./ledger/ledger.ts";
export type { FaultError, FaultStep, OrderFault } from "./ledger/order-fault.ts";
export type {
  MarkerTold,
  OrderChange,
  OrderHistory,
  OrderHistoryQuery,
  OrderQuery,
  OrderReading,
  OrderTold,
  TokenAccountTold,
  WalletTold,
} from "./ledger/order-reading.ts";
export { keychainSigner } from "./ledger/keychain-signer.ts";
export type { KeychainBackend } from "./ledger/keychain-signer.ts";
export { keypairSigner, signTransaction, SigningFailed } from "./ledger/sign-transaction.ts";
export type { SignedTransaction, Signer } from "./ledger/sign-transaction.ts";
export type { AskPart } from "./payments/frame/host-parts.ts";
export { deskProvider } from "./payments/swap/desk/desk-provider.ts";
export type { DeskOptions } from "./payments/swap/desk/desk-provider.ts";
export { jupiterProvider } from "./payments/swap/jupiter/jupiter-provider.ts";
export type { JupiterOptions } from "./payments/swap/jupiter/jupiter-provider.ts";
export type { ForeignSwap, ForeignSwapFault } from "./ledger/foreign-swap.ts";
export type {
  BuiltSwap,
  SwapOffer,
  Swapper,
  OfferedSwap,
  ReservedAmountLookup,
  ProviderContext,
  SenderSignedSwap,
  SwapProvider,
  WalletSwap,
  WantedSwap,
  WantedReservation,
} from "./payments/frame/exchange/swap-provider.ts";
export type {
  AssetAccount,
  Funds as AddressFunds,
  FundsReading,
  OwnerHoldings,
  Bid,
  Move,
  OutgoingTransaction,
  SignedHistory,
  StrayAccount,
  TokenProgram,
  TransactionPlan,
  UnsignedTransaction,
} from "./ledger/routing.ts";
export { readForeignJson } from "./core/foreign-json.ts";
export { fixedPrices } from "./payments/frame/prices/prices.ts";
export type { PriceBounds } from "./payments/frame/prices/guarded-prices.ts";
export type { PriceSource, Rate } from "./payments/frame/prices/prices.ts";
