/** Amounts, prices and frozen accounts of a test. */
import { createFreezeAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { SOL_MINT } from "../../src/core/address.ts";
import { parseAmount } from "../../src/core/amount.ts";
import { fixedPrices, type PriceSource } from "../../src/payments/frame/prices/prices.ts";
import { associatedTokenAddress } from "../../src/local/funding.ts";
import type { ChainFixture, Wallet } from "./chain-fixture.ts";
import { land } from "../solana/signed-transaction.ts";

/** SOL at 150 dollars. */
export function solAt150({ mints }: Pick<ChainFixture, "mints">): PriceSource {
  return fixedPrices({
    [SOL_MINT]: 1_000_000_000n,
    [mints.USDC]: 150_000_000n,
    [mints.USDT]: 150_000_000n,
  });
}

/** Has the issuer freeze the wallet's token account. */
export async function freezeAccount(
  fixture: ChainFixture,
  wallet: Wallet,
  asset: "USDC" | "USDT",
): Promise<void> {
  const { chain, mints } = fixture;
  const account = new PublicKey(associatedTokenAddress(wallet.address, mints[asset]));
  const authority = new PublicKey(chain.faucet.address);
  await land(fixture, {
    signers: [chain.faucet],
    instructions: [createFreezeAccountInstruction(account, new PublicKey(mints[asset]), authority)],
  });
}

/** Base units of a decimal string. */
export function units(amount: string, decimals: number): bigint {
  const read = parseAmount(amount, decimals);
  if ("fault" in read) throw new Error(`${amount} is no amount: ${read.fault}`);
  return read.amount;
}
