/** What people own, as the service reads it from the chain. */
import { unitsIn } from "./amounts.ts";
import type { Client } from "./client.ts";
import { money, step } from "./screen.ts";
import type { ChainReady } from "./settings.ts";

/** Decimal text. */
export interface Holdings {
  readonly sol: string;
  readonly usdc: string;
}

/** In millionths of a USDC. */
export interface UsdcOfBoth {
  readonly alice: bigint;
  readonly bob: bigint;
}

export async function holdingsOf(client: Client, address: string): Promise<Holdings> {
  const { sol, tokens } = await client.balances(address);
  return { sol, usdc: tokens.find(({ symbol }) => symbol === "USDC")?.balance ?? "0" };
}

/** Shows what Alice and Bob have. */
export async function showUsdcOfBoth(when: string, client: Client, chain: ChainReady): Promise<UsdcOfBoth> {
  const [alice, bob] = await Promise.all([
    holdingsOf(client, chain.alice.address),
    holdingsOf(client, chain.bob.address),
  ]);
  step(when, `Alice has ${money(`${alice.usdc} USDC`)}, Bob has ${money(`${bob.usdc} USDC`)}`);
  return { alice: unitsIn(alice.usdc), bob: unitsIn(bob.usdc) };
}
