/** `paystate/machines`: the charts themselves, pure and without an engine, to read, draw and test. */
export { depositAddress } from "./deposit-address.ts";
export { payment } from "./payment.ts";
export { privateTransfer } from "./private-transfer.ts";
export { walletTransfer } from "./wallet-transfer.ts";
export { webhookDelivery } from "./webhook-delivery.ts";
export type {
  AnnounceParams,
  SignatureEvent,
  TransferMeta,
  WalletTransferContext,
  WalletTransferEvent,
  WalletTransferInput,
} from "./wallet-transfer.ts";
export type {
  WebhookAttempt,
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
  WebhookDeliveryInput,
} from "./webhook-delivery.ts";
export { BLOCKS_OF_SIGNED_BYTES } from "./deposit-address-context.ts";
export type { Amounts, DepositTally, Reading } from "./deposit-tally.ts";
export type {
  DepositAddressContext,
  DepositAddressEvent,
  DepositAddressInput,
  RestingState,
  ReturnParams,
  SettlementParams,
} from "./deposit-address-context.ts";
export type { NoticeEvent } from "./notice-events.ts";
export type { PaymentContext, PaymentEvent, PaymentInput, RivalPayment } from "./payment.ts";
export type {
  DepositEvent,
  Message,
  Movement,
  OrderOverEvent,
  PayoutOvertakenEvent,
  PaymentFault,
  PaymentRole,
  PayoutEvent,
  RoutedEvent,
  SpendingEvent,
} from "./private-messages.ts";
export type {
  PrivateTransferContext,
  PrivateTransferEvent,
  PrivateTransferInput,
} from "./private-transfer.ts";
