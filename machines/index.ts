/** `paystate/machines`: the charts themselves, pure and without an engine, to read, draw and test. */
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
  WebhookDeliveryContext,
  WebhookDeliveryEvent,
  WebhookDeliveryInput,
} from "./webhook-delivery.ts";
