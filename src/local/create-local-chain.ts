/** Starts a local chain: web3.js, an optional peer, is loaded by then and not before. */
import { loadWithWeb3 } from "../core/load-web3.ts";
import { checkOptions } from "../core/options.ts";
import { type LocalChainOptions, optionsSchema } from "./chain-options.ts";
import type { LocalChain } from "./local-chain.ts";

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
