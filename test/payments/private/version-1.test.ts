/** N6: deposits that wallets make in transactions of version 1 are read, and so is who made them. */
// modules: private
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from "@solana/spl-token";
import { PublicKey, SystemProgram, type TransactionInstruction } from "@solana/web3.js";
import { expect } from "vitest";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { signedVersion1 } from "../../kit/version-1.ts";
import { keyOf } from "../../solana/signed-transaction.ts";
import { MINUTE, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

const WEALTH = { lamports: 5_000_000_000n, usdc: 50_000_000n };

/** Lands what these have signed, the fee payer first. */
async function landVersion1(
  { chain, ledger, service }: Scene,
  signers: readonly Wallet[],
  instructions: readonly TransactionInstruction[],
): Promise<void> {
  const text = await signedVersion1({ chain }, { signers, instructions });
  await ledger.broadcast(Buffer.from(text, "base64"));
  chain.advance(35);
  for (let look = 0; look < 3; look++) await service.settled();
}

/** What pays into the associated account of a deposit address, and makes it first. */
function payIn(world: Scene, from: Wallet, address: string, amount: bigint): TransactionInstruction[] {
  const [mint, owner] = [new PublicKey(world.mints.USDC), new PublicKey(address)];
  const account = new PublicKey(
    world.tokenAccountOf({ ...from, address: owner.toBase58() as Wallet["address"] }, "USDC"),
  );
  const source = new PublicKey(world.tokenAccountOf(from, "USDC"));
  return [
    createAssociatedTokenAccountIdempotentInstruction(keyOf(from), account, owner, mint),
    createTransferCheckedInstruction(source, mint, account, keyOf(from), amount, 6),
  ];
}

test("N6: a deposit in a transaction of version 1 is credited, its signers are screened by name, and the order completes", async ({
  open,
}) => {
  const asked: string[] = [];
  const world = await open(
    {},
    {
      screen: async (address, { role }) => {
        asked.push(`${role} ${address}`);
        return "ok";
      },
    },
  );
  const [carol, dave] = [world.wallet("carol", WEALTH), world.wallet("dave", WEALTH)];
  const order = await world.sendTo({ asset: "USDC", amount: "5" });
  await landVersion1(world, [dave, carol], payIn(world, carol, order.address, order.due));
  await world.settle();
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(asked).toContain(`depositor ${carol.address}`);
  await world.judge();
});

test("N6: who must not be served pays in with a transaction of version 1, and the order is held", async ({
  open,
}) => {
  const refused = new Set<string>();
  const world = await open({}, { screen: async (address) => (refused.has(address) ? "refused" : "ok") });
  const mallory = world.wallet("mallory", WEALTH);
  refused.add(mallory.address);
  const order = await world.sendTo({ asset: "SOL", amount: "1" });
  const lamports = Number(order.due);
  const pay = SystemProgram.transfer({
    fromPubkey: keyOf(mallory),
    toPubkey: new PublicKey(order.address),
    lamports,
  });
  await landVersion1(world, [mallory], [pay]);
  await world.passAndSettle(10 * MINUTE, 6);
  expect(await world.shown(order)).toMatchObject({ status: "processing", attention: "held" });
  const view = await world.storage.orderedTransaction(order.id);
  expect(view?.order?.holds).toMatchObject([{ reason: "screening", endedAt: null }]);
});
