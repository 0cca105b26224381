/**
 * `paystate/machines`: the charts themselves, pure and without an engine, to read, draw and test. XState names their types:
 * `ContextFrom<typeof order>`, `EventFrom<typeof order>`, `InputFrom<typeof order>`.
 */
export { order } from "./order.ts";
export { transfer } from "./transfer.ts";
export { walletTransfer } from "./wallet-transfer.ts";
export { webhookDelivery } from "./webhook-delivery.ts";
