/** `paystate/ledger`: the port to a chain and the ports of signers and swap providers, to write one of your own. */
export { agreed } from "./ledger/agreed.ts";
export type { Evidence, Hint, EvidenceBrand, HintBrand } from "./ledger/belief.ts";
export { heard } from "./ledger/heard.ts";
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
export type { AskPart } from "./payments/frame/host-parts.ts";
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
