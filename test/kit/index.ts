/** `paystate/testing`: the contract suites that adapters of your own must pass, and a clock to turn in your own tests. */
export {
  type ContractHost,
  storageContract,
  type StorageContractCase,
  type StorageUnderTest,
} from "../contracts/storage.ts";
export {
  ledgerContract,
  type EndpointFault,
  type LedgerContractCase,
  type LedgerWorld,
  type WorldWallet,
} from "../contracts/ledger.ts";
export { virtualClock, type VirtualClock } from "./virtual-clock.ts";
export { passTime } from "./pass-time.ts";
export { sampleWebhook, type SampleWebhook } from "./sample-webhook.ts";
