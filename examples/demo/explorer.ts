/** What anybody can read on the chain. The demo believes this, and not what the service says of itself. */
import { getAssociatedTokenAddressSync, unpackAccount } from "@solana/spl-token";
import { Connection, PublicKey } from "@solana/web3.js";
import type { ChainReady } from "./settings.ts";

/** The USDC of each address, in millionths; 0 where there is no account. As many addresses as one request takes: 100. */
export async function usdcOf(
  { rpcUrl, mints }: ChainReady,
  owners: readonly string[],
): Promise<readonly bigint[]> {
  const mint = new PublicKey(mints.USDC);
  const accounts = owners.map((owner) => getAssociatedTokenAddressSync(mint, new PublicKey(owner)));
  const found = await connect(rpcUrl).getMultipleAccountsInfo(accounts);
  return accounts.map((account, index) => {
    const info = found[index] ?? null;
    return info === null ? 0n : unpackAccount(account, info).amount;
  });
}

/** Every address that a transaction names. */
export async function addressesIn({ rpcUrl }: ChainReady, signature: string): Promise<readonly string[]> {
  const found = await connect(rpcUrl).getTransaction(signature, { maxSupportedTransactionVersion: 1 });
  if (found === null) throw new Error(`the chain does not know ${signature}`);
  return found.transaction.message.staticAccountKeys.map((key) => key.toBase58());
}

function connect(rpcUrl: string): Connection {
  return new Connection(rpcUrl, "confirmed");
}
