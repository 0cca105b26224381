/** Prices that never move are for local chains: on mainnet the first move of the market would be at our cost. */
import { MAINNET_GENESIS } from "../assets/assets.ts";
import { StartRefused } from "../secrets/bind-database.ts";
import type { PriceSource } from "./prices.ts";

/** Throws `StartRefused` on mainnet, naming the option. */
export function refuseFixedPrices(
  genesisHash: string,
  prices: Pick<PriceSource, "isFixed"> | null,
  option: string,
): void {
  if (genesisHash !== MAINNET_GENESIS || prices?.isFixed !== true) return;
  throw new StartRefused(
    `${option}: these prices never move, which is for local chains; on mainnet give a source that asks the market`,
  );
}
