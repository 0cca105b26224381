/** The sandbox of `paystate dev`: payees whose payments fail, each at a fixed address, in states that the chain really has. */
import type { LocalChain } from "../local/index.ts";
import type { ScreenAddress } from "../payments/frame/recipients/recipients.ts";

/** The payees, by the way in which they fail. */
export interface DevSandbox {
  /** The issuer has frozen its accounts of USDC and USDT. */
  readonly frozen: string;
  /** Holds nothing: neither SOL nor a token account. */
  readonly noAccount: string;
  /** Served while an order is taken, refused when the order is to be paid. */
  readonly held: string;
}

/** One SOL, and accounts of the stablecoins with nothing in them. */
const EMPTY_ACCOUNTS = { lamports: 1_000_000_000n, usdc: 0n, usdt: 0n };

/** The same payees at every start: the names decide about the addresses, which the page repeats. */
export function sandboxOn(chain: LocalChain): DevSandbox {
  return {
    frozen: chain.createWallet("frozen", { ...EMPTY_ACCOUNTS, frozen: true }).address,
    noAccount: chain.createWallet("no account", {}).address,
    held: chain.createWallet("held", EMPTY_ACCOUNTS).address,
  };
}

/** Screening as of a list that has got a new entry since the order was taken. */
export function screenOf({ held }: DevSandbox): ScreenAddress {
  return (address, { transactionId }) =>
    Promise.resolve(address === held && transactionId !== null ? "refused" : "ok");
}
