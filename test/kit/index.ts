/** `paystate/testing`: the contract suites that adapters of your own must pass. */
export { storageContract, type StorageContractCase, type StorageUnderTest } from "../contracts/storage.ts";
