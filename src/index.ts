/** `paystate`: the payment service and its HTTP handler. Storage, ledger, charts and engine have entries of their own. */
export { createPaymentService } from "./service/create-payment-service.ts";
export type { PaymentService } from "./service/payment-service.ts";
export type { PaymentServiceOptions, PrivateRoutingOptions } from "./service/payment-service-options.ts";
export { createHttpHandler } from "./http/create-http-handler.ts";
export { createInspector } from "./http/create-inspector.ts";
export type {
  InspectedEngineOptions,
  InspectedStorageOptions,
  InspectorAccess,
  InspectorOptions,
} from "./http/create-inspector.ts";
export type { Authorize as InspectorAuthorize } from "./inspector/admit-viewer.ts";
export type { HttpHandler, HttpHandlerOptions } from "./http/create-http-handler.ts";
export { openApiDocument } from "./http/openapi/open-api-document.ts";
export type { OpenApiDocument, OpenApiOptions } from "./http/openapi/open-api-document.ts";
export { isPaymentError, PaymentError } from "./errors.ts";
export type { ErrorCode, ErrorDetails, FieldProblem } from "./errors.ts";
export type { Immutable } from "./immutable.ts";
export type { Address } from "./address.ts";
export { InvalidOptions } from "./options.ts";
export { StartRefused } from "./payments/secrets/bind-database.ts";
export type { OperatorPurses, PurseBody, PurseName } from "./payments/purses/purses.ts";
export { verifyServiceSignature } from "./payments/webhooks/sending/signature.ts";
export { SCOPES } from "./payments/accounts/caller.ts";
export type { Caller, Scope } from "./payments/accounts/caller.ts";
export { KeyRefused } from "./payments/accounts/api-keys.ts";
export type {
  ApiKeys,
  IssuedKey,
  IssueKey,
  KeyEnvironment,
  KeyRotation,
  ListedKey,
  NewAccount,
  RotatedKey,
} from "./payments/accounts/api-keys.ts";
export type { Answer, RequestOptions } from "./payments/accounts/answer-once.ts";
export type { DurableScope, LimitStanding } from "./payments/accounts/count-hit.ts";
export type { MasterSecret } from "./payments/secrets/sealing.ts";
export type { Token } from "./payments/assets/assets.ts";
export type { BalancesBody, TokenBalanceBody } from "./payments/assets/read-balances.ts";
export type { Diagnosis, EgressStanding } from "./service/diagnosis.ts";
export type { DatabaseBinding, MasterSecretStanding } from "./payments/secrets/bind-database.ts";
export type { ChainStanding } from "./service/chain-comparison.ts";
export type { ClockStanding, Health, WitnessStanding } from "./service/read-health.ts";
export type { DeliveryBacklog } from "./service/delivery-backlog.ts";
export type { CancelledTransactionBody } from "./payments/transactions/cancel-transaction.ts";
export type { CreatedTransactionBody } from "./payments/transactions/create-transaction.ts";
export type { CreatedTransferBody } from "./payments/wallet/accept-signed.ts";
export type { CreatedOrderBody } from "./payments/private/accept-order.ts";
export type { OrderedReturn, ReturnOrder } from "./payments/private/order-return.ts";
export type { GivenReturn } from "./payments/operator/transaction-acts.ts";
export type { Screen, ScreenedAs } from "./payments/recipients/screening.ts";
export type { Tier } from "./payments/tables/identity.ts";
export type { TransactionAttention, TransactionStatus } from "./payments/tables/orders.ts";
export type { NoticeFilter, NoticeListener } from "./payments/webhooks/notice-feed.ts";
export { NOTICE_EVENTS } from "./payments/webhooks/sending/notice-body.ts";
export type { Notice, NoticeEvent, NoticeRecipient } from "./payments/webhooks/sending/notice-body.ts";
export type { AccountBody } from "./payments/accounts/read-account.ts";
export type {
  QuoteBody,
  QuoteFees,
  RefreshedQuoteBody,
  ShownQuoteBody,
} from "./payments/quotes/quote-body.ts";
export type { ReleasedDeposit } from "./payments/private/release-deposit.ts";
export type { SettledPayment } from "./payments/private/settle-payment.ts";
export type { NamedLanding, SettledTransaction } from "./payments/wallet/settle-transaction.ts";
export { OperatorRefused } from "./payments/operator/operator-refused.ts";
export type { OperatedInstances, Operator } from "./payments/operator/operator.ts";
export type { ActedBy } from "./payments/acted-by.ts";
export type { ActName } from "./payments/operator/act.ts";
export type { TransactionActing } from "./payments/operator/transaction-acts.ts";
export { readRecoveryFile, recoveryFile } from "./payments/operator/recovery/journal-file.ts";
export type { RecoveryEntry, RecoveryJournal } from "./payments/operator/recovery/entry.ts";
export type { Recover, RecoveredAddress, RecoveredHolding } from "./payments/operator/recovery/recover.ts";
export type { Matter, MatterAction, MatterKind } from "./payments/operator/attention/matter.ts";
export type { ArchivedRow } from "./payments/retention/archived-rows.ts";
export type { Archive, Duration, KeepStanding } from "./engine/index.ts";
export type { Keep, KeptFor } from "./payments/retention/keep.ts";
export type { PaymentRetentionStanding } from "./payments/retention/payment-retention.ts";
export type { AttentionNews, OnAttention } from "./payments/operator/attention/tell-matters.ts";
export type { Approval, Resolution, ResolveCommand } from "./payments/operator/resolve/command.ts";
export type { Resolver } from "./payments/operator/resolve/resolve.ts";
export type { AuditEntry, AuditPage } from "./payments/operator/audit-log.ts";
export type { LimitEntry, Limiting, WantedLimits } from "./payments/operator/gates/limiting.ts";
export type { Direction } from "./payments/intake/rules.ts";
export type { LoweredEntry, Lowering, WantedWitnesses } from "./payments/operator/gates/lowering.ts";
export type {
  EndpointSuspending,
  SuspendedEndpointEntry,
  WantedSuspension,
} from "./payments/operator/gates/suspending-endpoints.ts";
export type { PausedEntry, PausedScope, Pausing } from "./payments/operator/gates/pausing.ts";
export type { SuspendedAccount, Suspending } from "./payments/operator/gates/suspending.ts";
export type { AddressTally } from "./payments/reconcile/tally.ts";
export type { AssetSums, ReconciledAddresses } from "./payments/reconcile/addresses.ts";
export type { ReconciledPurse } from "./payments/reconcile/purses.ts";
export type { Reconciliation } from "./payments/reconcile/reconcile.ts";
export type { ReconciledWallet, WalletFinding } from "./payments/reconcile/wallet.ts";
export type { AddressFindings, Finding } from "./payments/reconcile/findings.ts";
export type {
  QuoteRequest,
  TransactionRequest,
  WebhookRequest,
  EventsQuery,
  PageQuery,
  Recovery,
  TransactionQuery,
  TransactionsQuery,
  WebhookTest,
  WebhookUpdate,
} from "./payments/requests.ts";
export type { TestedWebhookBody } from "./payments/webhooks/test-webhook.ts";
export type { RecoveryBody } from "./payments/webhooks/recover-deliveries.ts";
export type {
  AttemptPhasesBody,
  DeliveryAttemptBody,
  DeliveryBody,
} from "./payments/webhooks/delivery-body.ts";
export type { EventBody } from "./payments/webhooks/list-events.ts";
export type { Page } from "./payments/page.ts";
export type { Attention } from "./payments/attention.ts";
export type { ReceivedBody } from "./payments/transactions/received-money.ts";
export type { RecipientStatus } from "./payments/transactions/recipient-outcome.ts";
export type { RecipientBody, RefundBody, TransactionBody } from "./payments/transactions/read-transaction.ts";
export type { WebhookBody, WholeWebhookBody } from "./payments/webhooks/webhook-body.ts";
export type { NodeAsked, RequestAnswered, TaskEnded, WebhookCalled } from "./diagnostics.ts";
export type { Clock, Logger, Random } from "./runtime.ts";
export { agreed } from "./ledger/agreed.ts";
export type { Agreed, Heard, SaidByEnough, SaidByOne } from "./ledger/belief.ts";
export { heard } from "./ledger/heard.ts";
export { LedgerUnavailable } from "./ledger/ledger.ts";
export type {
  AccountKind,
  Attempt as BroadcastAttempt,
  Balances as WalletBalances,
  Commitment,
  DeclaredPayment,
  EndpointDispute,
  EndpointStanding,
  Fate as AttemptFate,
  FirmCommitment,
  Holding as WalletHolding,
  Landing,
  LandingRefusal,
  Ledger,
  LedgerReads,
  MintFacts,
  PaymentCost,
  Reading as LedgerReading,
  Receipt as LandingReceipt,
  Restriction as LedgerRestriction,
  SignatureStatus,
  SimulationFault,
  TokenAccountState,
  Transfer as DeclaredTransfer,
  UnsignedPayment,
  VerifiedPayment,
  WitnessCount,
} from "./ledger/ledger.ts";
export { keypairSigner, signTransaction, SigningFailed } from "./ledger/sign-transaction.ts";
export type { SignedTransaction, Signer } from "./ledger/sign-transaction.ts";
export type { AskPart, PartCall } from "./payments/host-parts.ts";
export { deskProvider } from "./payments/swap-provider/desk-provider.ts";
export type { DeskOptions } from "./payments/swap-provider/desk-provider.ts";
export type {
  BuiltSwap,
  DirectSwap,
  SwapOffer,
  Swapper,
  OfferedSwap,
  Promised,
  ProviderSurroundings,
  SenderSigned,
  SwapProvider,
  WalletSwap,
  WantedSwap,
  WantedReservation,
} from "./payments/swap-provider/swap-provider.ts";
export type {
  AssetAccount,
  ClaimedFunds,
  Funds as AddressFunds,
  FundsReading,
  Heights as BlockHeights,
  Inflow,
  InflowShare,
  PayerSearch,
  Marker,
  MarkersReading,
  Move,
  OutgoingTransaction,
  Payers as AddressPayers,
  SignedHistory,
  Holder,
  Period,
  WitnessedHistory,
  StrayAccount,
  StrayReading,
  TokenProgram,
  TransactionFault,
  TransactionPlan,
  UnsignedTransaction,
} from "./ledger/routing.ts";
export { fixedPrices } from "./payments/prices/prices.ts";
export type { PriceBounds } from "./payments/prices/guarded-prices.ts";
export type { PriceSource, Rate } from "./payments/prices/prices.ts";
