/** Reads what an instruction of Jupiter's aggregator states of its swap. */
import type { ResolvedInstruction } from "../resolve-instructions.ts";
import { JUPITER_PROGRAM } from "../programs.ts";

/** An instruction that makes a token account, which the aggregator does for wrapped SOL. */
export interface MadeAccount {
  readonly does: "make_account";
  readonly account: string | undefined;
  readonly owner: string | undefined;
  readonly mint: string | undefined;
}

/** A swap as its instruction states it; the program fails the transaction where less than `leastAmount` comes out. */
export interface Route {
  readonly does: "swap";
  readonly taker: string | undefined;
  readonly source: string | undefined;
  readonly destination: string | undefined;
  /** Another account that gets the output in place of `destination`; null where there is none. */
  readonly payee: string | null;
  readonly inputAmount: bigint;
  readonly leastAmount: bigint;
}

// Anchor's discriminators: the first eight bytes of SHA-256 over "global:" and the name.
const ROUTE_V2 = "bb64facc31c4af14";
const SHARED_ACCOUNTS_ROUTE_V2 = "d19853937cfed8e9";
const CREATE_TOKEN_ACCOUNT = "93f17b64f484ae76";
const DISCRIMINATOR_BYTES = 8;
/** Input, quoted output, slippage: the first arguments of both. */
const TERMS_BYTES = 18;
const BPS = 10_000n;

/**
 * The meaning of an instruction, null where it is unknown. It reads the two swap instructions of the Swap API of version 2,
 * in which the input is exact.
 */
export function readRoute({ accounts, data }: ResolvedInstruction): Route | MadeAccount | null {
  const bytes = Buffer.from(data);
  const kind = bytes.subarray(0, DISCRIMINATOR_BYTES).toString("hex");
  if (kind === CREATE_TOKEN_ACCOUNT) {
    const [account, owner, mint] = accounts;
    return { does: "make_account", account, owner, mint };
  }
  if (kind === ROUTE_V2) {
    const [taker, source, destination] = accounts;
    const other = accounts[7];
    // An optional account that is left out is named by the program's own id.
    const payee = other === JUPITER_PROGRAM ? null : (other ?? "");
    return withTerms({ taker, source, destination, payee }, bytes.subarray(DISCRIMINATOR_BYTES));
  }
  if (kind !== SHARED_ACCOUNTS_ROUTE_V2) return null;
  const [, taker, source, , , destination] = accounts;
  // One byte, the number of the program's own authority, stands before the terms.
  return withTerms({ taker, source, destination, payee: null }, bytes.subarray(DISCRIMINATOR_BYTES + 1));
}

function withTerms(
  parties: Pick<Route, "taker" | "source" | "destination" | "payee">,
  terms: Buffer,
): Route | null {
  if (terms.length < TERMS_BYTES) return null;
  const quoted = terms.readBigUInt64LE(8);
  const slippageBps = BigInt(terms.readUInt16LE(16));
  const slippage = (quoted * slippageBps) / BPS;
  return {
    does: "swap",
    ...parties,
    inputAmount: terms.readBigUInt64LE(0),
    leastAmount: slippage > quoted ? 0n : quoted - slippage,
  };
}
