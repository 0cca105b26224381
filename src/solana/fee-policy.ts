/** The bids of transactions that the service signs, for their place in a block. */
import { z } from "zod";
import { functionOption } from "../core/options.ts";

/**
 * Bids for a place in a block. An estimate is a hint: it moves a bid between `floor` and `ceiling`, and nothing else.
 *
 * @example
 * ```ts
 * import { solanaLedger } from "paystate/solana";
 *
 * const endpoints = [{ url: "https://a.example" }, { url: "https://b.example" }];
 * const ledger = solanaLedger({ endpoints, fees: { floor: 10_000n, ceiling: 100_000n } });
 * await ledger.close();
 * ```
 */
export interface FeeOptions {
  /** The least bid, in millionths of a lamport per compute unit. Default 1,000. */
  readonly floor?: bigint;
  /** The most that the priority fee of a transaction may be, in lamports. Default 50,000. */
  readonly ceiling?: bigint;
  /**
   * Which bid of recent blocks is met, of those blocks that took no less than something: 1 to 100. Default 75. Endpoints tell
   * these bids (`getRecentPrioritizationFees`, asked without accounts), and the lowest of their answers counts.
   */
  readonly percentile?: number;
  /**
   * An estimate of another source, in millionths of a lamport per compute unit, such as a provider's own method. Asked every
   * five seconds at most while something is built. Where it rejects, or tells nothing within two seconds, bids are at the floor.
   */
  readonly estimate?: () => Promise<bigint>;
}

/** The options with their defaults. */
export interface FeePolicy extends Required<Omit<FeeOptions, "estimate">> {
  /** Null where the endpoints are asked. */
  readonly estimate: (() => Promise<bigint>) | null;
}

// A million lamports are 0.001 SOL, and ten million millionths are ten lamports for each of 1,400,000 units.
const MAX_CEILING = 10_000_000n;
const MAX_FLOOR = 10_000_000n;

/** The check of the option `fees`. */
export const feeOptions = z
  .strictObject({
    floor: z.bigint().min(0n).max(MAX_FLOOR).optional(),
    ceiling: z.bigint().min(1n).max(MAX_CEILING).optional(),
    percentile: z.int().min(1).max(100).optional(),
    estimate: functionOption<() => Promise<bigint>>().optional(),
  })
  .optional();

/** The policy that options describe. */
export const feePolicy = ({
  floor = 1_000n,
  ceiling = 50_000n,
  percentile = 75,
  estimate,
}: FeeOptions = {}): FeePolicy => ({ floor, ceiling, percentile, estimate: estimate ?? null });
