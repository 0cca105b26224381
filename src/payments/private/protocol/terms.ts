/** The terms of an order of private mode: fixed when it is taken, stored, never computed again. */
import type { Address } from "../../../core/address.ts";

/** Cut, outcome table, seeds and owner of markers belong to a layout. */
export type Layout = 1;

/** A recipient in stored order. */
export interface Member {
  readonly index: number;
  readonly address: Address;
  /** Base units of what recipients get; of a swap an estimate, and once it is made what its payee got. */
  readonly amount: bigint;
  /** Whether the quote has priced the making of its token account: then the sponsor pays for it. */
  readonly isPriced: boolean;
}

/** The terms of an order. */
export interface OrderTerms {
  readonly id: string;
  readonly layout: Layout;
  readonly type: "send" | "payroll" | "swap";
  readonly address: Address;
  readonly sender: Address;
  readonly sponsor: Address;
  readonly treasury: Address;
  /** The deposited asset; SOL is its wrapped mint. */
  readonly mint: Address;
  /** The asset of the recipients: `mint`, but of a swap. */
  readonly payMint: Address;
  /** Base units that the caller is asked to deposit: all amounts and the fee. */
  readonly required: bigint;
  /** Base units of `mint` that the treasury gets with the go. */
  readonly fee: bigint;
  readonly members: readonly Member[];
  /** How many recipients each chunk has, chunk 0 first. */
  readonly cut: readonly number[];
  /** Lamports of rent a byte when the order was taken. */
  readonly rentPerByte: bigint;
  /** The rate up to twice of which markers are bought: `rentPerByte`, or what a person's `retry` has taken. */
  readonly rentTaken: bigint;
  /** When the deposit window ends on the chain's clock, in Unix milliseconds. */
  readonly windowEnds: number;
}

/** The payees that a marker names: places in the chunk, the fee's included (0 of chunk 0). */
export type Outcome =
  | { readonly kind: "paid"; readonly leftOut: readonly number[] }
  /** For chunk 0, the no-go: the order is refused as a whole. */
  | { readonly kind: "nobody" }
  /** Chunk 0 of an order of several chunks: no member is paid, and the later chunks may be. */
  | { readonly kind: "emptyGo" };
