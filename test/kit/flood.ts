/** A flood: transactions that name an address and bring it nothing. */
import { PublicKey, SystemProgram } from "@solana/web3.js";
import type { ChainFixture, Wallet } from "./chain-fixture.ts";
import { newestBlockhash, signed } from "../solana/signed-transaction.ts";

/** Lands `count` transactions of `by` that name `address` as an account that nothing is done to, and makes them final. */
export async function flood(
  fixture: Pick<ChainFixture, "chain">,
  by: Pick<Wallet, "address" | "secretKey">,
  { address, count }: { readonly address: string; readonly count: number },
): Promise<void> {
  const self = new PublicKey(by.address);
  const named = { pubkey: new PublicKey(address), isSigner: false, isWritable: false };
  // Two equal messages over one blockhash would be one.
  fixture.chain.advance(2);
  const blockhash = await newestBlockhash(fixture.chain);
  for (let lamports = 1; lamports <= count; lamports += 1) {
    const transfer = SystemProgram.transfer({ fromPubkey: self, toPubkey: self, lamports });
    transfer.keys.push(named);
    const text = await signed(fixture, { signers: [by], instructions: [transfer], blockhash });
    const params = [text, { encoding: "base64", skipPreflight: true }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: lamports, method: "sendTransaction", params });
    const answer = (await (await fixture.chain.fetch("http://local", { body })).json()) as { error?: object };
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  }
  fixture.chain.advance(33);
}
