/** K15: when a reading of an order's levels lists what came to its address, and what explains that less is there. */
// modules: private
import { createCloseAccountInstruction } from "@solana/spl-token";
import { PublicKey } from "@solana/web3.js";
import { afterEach, expect, it } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { judgeLevels } from "../../../src/payments/private/judge-levels.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { keyOf, land } from "../../solana/signed-transaction.ts";
import { transferWorld, type TransferWorld } from "./transfer-world.ts";

let world: TransferWorld;
afterEach(() => world.stop());

/** How many deposits a reading lists, after these changes of the row of the order's level. */
async function listed(level: Readonly<Record<string, bigint>>): Promise<number> {
  const { storage, ledger, clock, mints, order, write } = world;
  await write({ table: "levels", id: `${order.id}:${mints.USDC}`, set: level });
  const parts = { storage, ledger, clock, assets: assetsWith(mints) };
  const { look } = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
  return look.view.deposits.length;
}

it("K15: the history is listed for a deposit, and before a part of what was written off is taken back", async () => {
  world = await transferWorld({
    mint: "USDC",
    shares: [4_900_000n],
    cut: [1],
    fee: 100_000n,
    deposited: { usdc: 5_000_000n },
  });
  expect(await listed({})).toBe(0);
  expect(await listed({ received: 8_000_000n, writtenOff: 3_000_000n })).toBe(0);
  expect(await listed({ received: 8_000_000n, writtenOff: 8_000_000n })).toBe(1);
  expect(await listed({ received: 1_000_000n, writtenOff: 0n })).toBe(1);
});

it("K15: lamports with which a chunk made a recipient's account again are told as spent for it, and never as missing", async () => {
  world = await transferWorld({
    mint: "USDC",
    shares: [2_400_000n, 2_500_000n],
    cut: [1, 1],
    fee: 100_000n,
    deposited: { usdc: 5_000_000n, lamports: 10_000_000n },
  });
  const { storage, ledger, clock, mints, order, write, sendOut, pass, chain, recipients, rich } = world;
  const [bob] = recipients;
  if (bob === undefined) throw new Error("the order has two recipients");
  const sol = `${order.id}:${SOL_MINT}`;
  await write({ table: "levels", id: sol, set: { received: 10_000_000n } });
  const { broadcast } = ledger;
  const kept: Uint8Array[] = [];
  Object.assign(ledger, { broadcast: async (bytes: Uint8Array) => void kept.push(bytes) });
  const id = await sendOut({ kind: "chunk", n: 0 });
  await pass(5);
  Object.assign(ledger, { broadcast });
  await world.must([world.usdc(bob, rich.address, 1n)], bob);
  const account = new PublicKey(world.ataOf(bob.address));
  const close = createCloseAccountInstruction(account, keyOf(bob), keyOf(bob));
  await land(world, { signers: [bob], instructions: [close] });
  await ledger.broadcast(kept[0] ?? new Uint8Array());
  chain.advance(SLOTS_TO_FINALITY);
  await pass(60);
  const [attempt] = await storage.attemptsOf(id);
  const row = { length: 0, slot: chain.slot(), signature: attempt?.id ?? "", isOwn: true };
  await write({ table: "chunks", id: `${order.id}:0`, set: row });
  const parts = { storage, ledger, clock, assets: assetsWith(mints) };
  const { look, writes } = await judgeLevels(parts, await lookAtOrder(parts, order.id), false);
  expect(look.view.chunks.map(({ k, opened }) => [k, opened])).toEqual([
    [0, world.rent(165)],
    [1, 0n],
  ]);
  expect(look.facts.levels.flatMap(({ judgement }) => judgement?.news ?? [])).toEqual([]);
  await write(...writes);
  const stored = (await storage.orderedTransaction(order.id))?.order;
  expect(stored?.levels.map(({ short, missing }) => [short, missing])).toEqual([
    [false, 0n],
    [false, 0n],
  ]);
  expect(stored?.chunks.map(({ opened }) => opened)).toEqual([world.rent(165), 0n]);
});
