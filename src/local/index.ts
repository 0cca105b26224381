/** `paystate/local`: a Solana chain in this process, behind an unmodified web3.js `Connection`. For development and tests. */
export { createLocalChain } from "./create-local-chain.ts";
export type { LocalChainOptions } from "./chain-options.ts";
export type { LocalChain, LocalFetch, LocalWallet } from "./local-chain.ts";
export type { Funds } from "./funding.ts";
export type { Listener } from "./http-listener.ts";
export type { Fault, FaultRule, FaultControl, RpcRequest } from "./faults.ts";
