/** The options of a local chain, and its start: web3.js, an optional peer, is loaded by then and not before. */
import { z } from "zod";
import { loadWithWeb3 } from "../core/load-web3.ts";
import { checkOptions, objectWith, optionsWith } from "../core/options.ts";
import type { Clock } from "../core/runtime.ts";
import type { LocalChain } from "./local-chain.ts";

/** The length of mainnet's slots for years. */
const DEFAULT_SLOT_MS = 400;
const DEFAULT_CONFIRMED_AFTER = 1;
const DEFAULT_FINALIZED_AFTER = 32;

const slotCount = z.number().int().min(0);
const optionsSchema = optionsWith({
  /** Tells the time; `sleep` is needed for delay faults, and for subscriptions while slots follow the clock. */
  clock: objectWith<Pick<Clock, "now"> & Partial<Pick<Clock, "sleep">>>(
    ["now"],
    "a clock: { now }, with { sleep } for delays and subscriptions",
  ),
  /**
   * File the chain lives in; made when absent (mode 0600), replayed when present: some 0.4 ms for each transaction.
   * Without it, nothing is kept.
   */
  journal: z.string().min(1).optional(),
  /** Duration of a slot in milliseconds, 400 by default. With 0 slots pass by `advance` only. */
  slotMs: slotCount.default(DEFAULT_SLOT_MS),
  /** All keys of the chain's own are derived from it. The journal's seed must be the same. */
  seed: z.string().min(1).optional(),
  /** Slots after which a block is confirmed, 1 by default. */
  confirmedAfter: slotCount.default(DEFAULT_CONFIRMED_AFTER),
  /** Slots after which a block is finalized, 32 by default. */
  finalizedAfter: slotCount.default(DEFAULT_FINALIZED_AFTER),
}).refine(({ confirmedAfter, finalizedAfter }) => confirmedAfter <= finalizedAfter, {
  path: ["confirmedAfter"],
  error: "nothing is finalized before it is confirmed: expected at most finalizedAfter",
});

/** Options of a local chain. @interface */
export type LocalChainOptions = z.input<typeof optionsSchema>;

/** Checked options of a local chain. */
export type LocalChainSettings = z.output<typeof optionsSchema>;

/**
 * Starts a chain, from its journal if the journal has entries. Throws `InvalidOptions` listing every wrong option. Throws one
 * sentence with the remedy when web3.js or litesvm's native package is missing, the journal is damaged, or it belongs to
 * another seed.
 *
 * @example
 * ```ts
 * import { Connection, PublicKey } from "@solana/web3.js";
 * import { systemClock } from "paystate/engine";
 * import { createLocalChain } from "paystate/local";
 *
 * const chain = await createLocalChain({ clock: systemClock });
 * const ada = chain.createWallet("ada", { lamports: 2_000_000_000n, usdc: 100_000_000n });
 * const connection = new Connection("http://local.invalid", { fetch: chain.fetch, commitment: "confirmed" });
 * chain.advance(1);
 * console.log(await connection.getBalance(new PublicKey(ada.address))); // 2000000000
 * await chain.close();
 * ```
 */
export async function createLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const settings = checkOptions("createLocalChain", optionsSchema, options);
  const { openChain } = await loadWithWeb3(() => import("./open-chain.ts"));
  return openChain(settings);
}
