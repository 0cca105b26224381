/**
 * `paystate/machines`: the charts themselves, pure and without an engine, to read, draw and test. XState names their types:
 * `ContextFrom<typeof payment>`, `EventFrom<typeof payment>`, `InputFrom<typeof payment>`.
 */
export { depositAddress } from "./deposit-address.ts";
export { payment } from "./payment.ts";
export { privateTransfer } from "./private-transfer.ts";
export { walletTransfer } from "./wallet-transfer.ts";
export { webhookDelivery } from "./webhook-delivery.ts";
