/** Version 1: what a wallet sends is judged exactly like other versions, and its settings in place of instructions. */
import { ComputeBudgetProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { signedVersion1, ENOUGH } from "../kit/version-1.ts";
import { verdict } from "./signed-transaction.ts";
import { verifyTest as test } from "./verify-test.ts";

test("N6: a payment of version 1 that a wallet has put together is taken, in SOL and in tokens", async ({
  scene,
}) => {
  for (const payment of [scene.sol, scene.usdc]) {
    const text = await signedVersion1(scene, { signers: [scene.alice], instructions: scene.honest(payment) });
    expect(await verdict(scene.ledger, text, payment)).toBe("accepted");
  }
});

test("N7: the priority fee of version 1 is bounded as that of others is, and by what the message states alone", async ({
  scene,
}) => {
  const judge = async (priorityFeeLamports: bigint, microLamports = 0n): Promise<string> => {
    const bid = ComputeBudgetProgram.setComputeUnitPrice({ microLamports });
    const text = await signedVersion1(scene, {
      signers: [scene.alice],
      instructions: [bid, ...scene.honest(scene.sol)],
      settings: { ...ENOUGH, priorityFeeLamports },
    });
    return await verdict(scene.ledger, text, scene.sol);
  };
  expect(await judge(50_000_000n)).toBe("accepted");
  expect(await judge(50_000_001n)).toBe("content_mismatch");
  expect(await judge(2n ** 53n)).toBe("undecodable");
  // The instruction bids nothing in version 1.
  expect(await judge(1n, 2n ** 63n)).toBe("accepted");
});
