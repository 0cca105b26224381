/** Honest payments: what wallets sign is accepted and moves exactly the amount, as long as its blockhash lives. */
import type { Evidence } from "../../src/ledger/belief.ts";
import { createHash } from "node:crypto";
import { VersionedTransaction } from "@solana/web3.js";
import bs58 from "bs58";
import { describe, expect } from "vitest";
import type { DeclaredPayment, VerifiedPayment } from "../../src/ledger/ledger.ts";
import { signPayment } from "../kit/chain-fixture.ts";
import { verdict } from "./signed-transaction.ts";
import { elapsed } from "./scripted-node.ts";
import type { VerifyScene } from "./verify-scene.ts";
import { verifyTest as test } from "./verify-test.ts";

/** What the ledger builds for a payment, signed by its sender. */
async function built(
  scene: VerifyScene,
  payment: DeclaredPayment,
): Promise<{ text: string; lastValidBlockHeight: number }> {
  const { bytes, lastValidBlockHeight } = await scene.ledger.buildPayment(payment, new Uint8Array(32));
  return { text: signPayment(bytes, scene.alice.secretKey), lastValidBlockHeight };
}

async function verified(
  scene: VerifyScene,
  text: string,
  payment: DeclaredPayment,
): Promise<Evidence<VerifiedPayment>> {
  const answer = await scene.ledger.verifyPayment(text, payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return answer.verified;
}

describe("a payment that its sender has signed", () => {
  test("is kept as it was received: its bytes, its first signature, its message's hash, its blockhash", async ({
    scene,
  }) => {
    const { text } = await built(scene, scene.usdc);
    const found = await verified(scene, text, scene.usdc);
    const bytes = Buffer.from(text, "base64");
    expect(Buffer.from(found.bytes)).toEqual(bytes);
    expect(found.signature).toBe(bs58.encode(bytes.subarray(1, 65)));
    expect(found.messageHash).toBe(createHash("sha256").update(bytes.subarray(65)).digest("hex"));
    expect(found.blockhash).toBe(VersionedTransaction.deserialize(bytes).message.recentBlockhash);
  });

  test("to several recipients is accepted, in any order", async ({ scene }) => {
    const { alice, bob, mallory, usdc, createAta, payToken, ata } = scene;
    const transfers = [bob, mallory].map(({ address }, index) => ({
      recipient: address,
      amount: BigInt(index + 1),
    }));
    const payment = { ...usdc, transfers };
    expect(await verdict(scene.ledger, (await built(scene, payment)).text, payment)).toBe("accepted");
    const instructions = [
      payToken({ to: ata(mallory), amount: 2n }),
      createAta({ payer: alice }),
      payToken({ amount: 1n }),
    ];
    expect(await scene.judge(payment, instructions)).toBe("accepted");
  });

  test("in a v0 transaction without tables is accepted too", async ({ scene }) => {
    for (const payment of [scene.sol, scene.usdc, scene.usdt]) {
      expect(await scene.judge(payment, scene.honest(payment), { tables: [] })).toBe("accepted");
    }
  });

  test("without the creation of an account that is there is accepted", async ({ scene }) => {
    const { judge, mallory, usdc, payToken, ata } = scene;
    const payment = { ...usdc, transfers: [{ recipient: mallory.address, amount: 1n }] };
    expect(await judge(payment, [payToken({ to: ata(mallory), amount: 1n })])).toBe("accepted");
  });
});

describe("blockhashes", () => {
  test.for([
    ["that nobody knows", ({ mallory }: VerifyScene) => mallory.address],
    ["of zeros", () => "11111111111111111111111111111111"],
    ["of another chain, its genesis", () => "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"],
  ] as const)("attack: a blockhash %s is blockhash_expired", async ([_which, blockhash], { scene }) => {
    const { judge, honest, sol } = scene;
    const judged = judge(sol, honest(sol), { blockhash: blockhash(scene) });
    await elapsed(scene.clock, judged);
    expect(await judged).toBe("blockhash_expired");
  });

  test("W7: what the bytes say comes before whether they are alive: an old lie is content_mismatch", async ({
    scene,
  }) => {
    const { judge, paySol, mallory, sol } = scene;
    expect(await judge(sol, [paySol({ to: mallory })], { blockhash: mallory.address })).toBe(
      "content_mismatch",
    );
  });

  test("the last valid height is never too low, however old the blockhash is", async ({ scene }) => {
    const { text, lastValidBlockHeight } = await built(scene, scene.sol);
    for (const age of [1, 40, 80]) {
      scene.chain.advance(age);
      const found = await verified(scene, text, scene.sol);
      expect(found.lastValidBlockHeight).toBeGreaterThanOrEqual(lastValidBlockHeight);
    }
  });
});
