/** Bytes over a blockhash that another process handed out are judged by the chain. */
import { VersionedTransaction } from "@solana/web3.js";
import { expect } from "vitest";
import { signPayment } from "../kit/chain-fixture.ts";
import { chainTest as test } from "../kit/chain-test.ts";
import { elapsed } from "./scripted-node.ts";

const LIFE_BLOCKS = 150;

type Verdict = "taken" | "refused";

test("a process takes a payment that another one built for as long as the chain does, and that one no shorter", async ({
  world: { chain, clock, mints, wallet, ledgerOf },
}) => {
  const endpoints = [{ url: "http://local", fetch: chain.fetch }];
  const [builder, stranger] = [ledgerOf(endpoints), ledgerOf(endpoints)];
  const alice = wallet("alice", { lamports: 1_000_000_000n, usdc: 5_000_000n });
  const bob = wallet("bob", { lamports: 1_000_000_000n });
  const transfers = [{ recipient: bob.address, amount: 1_000_000n }];
  const payment = { sender: alice.address, mint: mints.USDC, decimals: 6, transfers };
  const { bytes, lastValidBlockHeight } = await builder.buildPayment(payment, new Uint8Array(32).fill(7));
  const signed = signPayment(bytes, alice.secretKey);
  const blockhash = VersionedTransaction.deserialize(bytes).message.recentBlockhash;
  const isValid = async (): Promise<Verdict> => {
    const params = [blockhash, { commitment: "confirmed" }];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "isBlockhashValid", params });
    const response = await chain.fetch("http://local", { method: "POST", body });
    const { result } = (await response.json()) as { readonly result: { readonly value: boolean } };
    return result.value ? "taken" : "refused";
  };
  const verdicts: { readonly chain: Verdict; readonly builder: Verdict; readonly stranger: Verdict }[] = [];
  for (let block = 0; block <= LIFE_BLOCKS + 10; block += 1) {
    const verifying = Promise.all([builder, stranger].map((ledger) => ledger.verifyPayment(signed, payment)));
    await elapsed(clock, verifying);
    const answers = await verifying;
    const [ours = null, theirs = null] = answers.map((answer) =>
      "verified" in answer ? answer.verified : null,
    );
    verdicts.push({
      chain: await isValid(),
      builder: ours === null ? "refused" : "taken",
      stranger: theirs === null ? "refused" : "taken",
    });
    // Neither calls it dead too early; the stranger does not know when it was made, and looks further back.
    if (ours !== null && theirs !== null) {
      expect(ours.lastValidBlockHeight).toBeGreaterThanOrEqual(lastValidBlockHeight);
      expect(theirs.lastValidBlockHeight).toBe(ours.lastValidBlockHeight);
      expect(theirs.firstSlot).toBeLessThanOrEqual(ours.firstSlot);
      expect([theirs.signature, theirs.messageHash]).toEqual([ours.signature, ours.messageHash]);
    }
    chain.advance(1);
  }
  expect(verdicts.filter((each) => each.stranger !== each.chain)).toEqual([]);
  expect(verdicts.filter((each) => each.builder !== each.chain)).toEqual([]);
  expect(verdicts.filter((each) => each.chain === "taken").length).toBeGreaterThan(LIFE_BLOCKS - 5);
  expect(verdicts.at(-1)).toEqual({ chain: "refused", builder: "refused", stranger: "refused" });
  await Promise.all([builder.close(), stranger.close()]);
});
