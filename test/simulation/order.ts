/** What a customer knows of an order out of the house: what was promised, and what was asked for. */
import type { Address } from "../../src/core/address.ts";

/** The assets that orders of a simulation are made in, with their decimals. */
export const DECIMALS = { SOL: 9, USDC: 6 } as const;
export type Asset = keyof typeof DECIMALS;

/** What a customer wrote down when an order was taken: all in base units. */
export interface Order {
  /** Names of the wallets to be paid, and what each of them was promised. */
  readonly payees: readonly string[];
  readonly asset: Asset;
  readonly each: bigint;
  /** Of a private order: where to send how much, and what is kept of it when anybody is paid. */
  readonly deposit?: {
    readonly address: Address;
    readonly asset: Asset;
    readonly due: bigint;
    readonly fee: bigint;
  };
  /** Of a swap: what the desk gets. */
  readonly given?: { readonly asset: Asset; readonly amount: bigint };
}
