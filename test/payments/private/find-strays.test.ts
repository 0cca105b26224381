/** P13: what lies in token accounts that do not count: one row each, as long as it is there. */
// modules: private
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToCheckedInstruction,
  createSyncNativeInstruction,
  NATIVE_MINT,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { afterEach, expect, it } from "vitest";
import { SOL_MINT, type Address } from "../../../src/core/address.ts";
import { agreed } from "../../../src/ledger/agreed.ts";
import { LedgerUnavailable, type Ledger } from "../../../src/ledger/ledger.ts";
import { assetsWith } from "../../../src/payments/frame/assets/assets.ts";
import { findStrays } from "../../../src/payments/private/find-strays.ts";
import { lookAtOrder } from "../../../src/payments/private/look.ts";
import { land } from "../../solana/signed-transaction.ts";
import { SLOTS_TO_FINALITY } from "../../kit/chain-fixture.ts";
import { transferWorld, type TransferOrder, type TransferWorld } from "./transfer-world.ts";

const SEND: TransferOrder = {
  mint: "USDC",
  shares: [4_900_000n],
  cut: [1],
  fee: 100_000n,
  deposited: { usdc: 5_000_000n },
};

let world: TransferWorld;
afterEach(() => world.stop());

/** A look for strays, its rows written down; gives how many it changed. */
async function found(ledger: Ledger = world.ledger): Promise<number> {
  const { storage, clock, mints, order, write } = world;
  const parts = { storage, ledger, clock, assets: assetsWith(mints) };
  const writes = await findStrays(parts, await lookAtOrder(parts, order.id));
  if (writes.length > 0) await write(...writes);
  return writes.length;
}

/** Amount of each row of a stray, and whether it has left. */
async function rows(): Promise<readonly (readonly [bigint, boolean])[]> {
  const [view] = await world.storage.orderViews([world.order.id]);
  return (view?.deposits ?? []).map(({ amount, leftAt }) => [amount, leftAt !== null]);
}

/** Puts more into an account. */
async function put(account: Address, amount: bigint): Promise<void> {
  const { chain, mints, rich } = world;
  const [place, mint] = [new PublicKey(account), new PublicKey(mints.USDC)];
  const issuer = new PublicKey(chain.faucet.address);
  const instructions = [createMintToCheckedInstruction(mint, place, issuer, amount, 6)];
  await land(world, { signers: [rich, chain.faucet], instructions });
  chain.advance(SLOTS_TO_FINALITY);
}

/** Endpoints that show no such account. */
const hiding = (): Ledger =>
  Object.assign(Object.create(world.ledger) as Ledger, {
    holdingsOf: async () => agreed({ slot: 1, endpoint: "one", lamports: 0n, tokens: [0n], accounts: [] }),
  });

it("P13: an account that grows is one row, and counts once", async () => {
  world = await transferWorld(SEND);
  const account = await world.stray(world.key.address, 3_000_000n);
  expect(await found()).toBe(1);
  expect(await found()).toBe(0);
  await put(account, 2_000_000n);
  expect(await found()).toBe(1);
  expect(await rows()).toEqual([[5_000_000n, false]]);
});

it("P11: wrapped SOL in the associated account hides none that lies in another", async () => {
  world = await transferWorld(SEND);
  const { chain, rich, key, ledger } = world;
  const owner = new PublicKey(key.address);
  const account = new PublicKey(ledger.tokenAccountOf(key.address, SOL_MINT));
  const [payer, to] = [new PublicKey(rich.address), account];
  const instructions = [
    createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, NATIVE_MINT),
    SystemProgram.transfer({ fromPubkey: payer, toPubkey: to, lamports: 2_000_000n }),
    createSyncNativeInstruction(account),
  ];
  await land(world, { signers: [rich], instructions });
  chain.advance(SLOTS_TO_FINALITY);
  await world.strayWrapped(key.address, 3_000_000n);
  expect(await found()).toBe(2);
  expect(new Set((await rows()).map(([amount]) => amount))).toEqual(new Set([2_000_000n, 3_000_000n]));
});

it("P13: what has left otherwise is not there any more, unless an endpoint has hidden it", async () => {
  world = await transferWorld(SEND);
  await world.stray(world.key.address, 3_000_000n);
  await found();
  expect(await found(hiding())).toBe(1);
  expect(await rows()).toEqual([[3_000_000n, true]]);
  expect(await found()).toBe(1);
  expect(await rows()).toEqual([[3_000_000n, false]]);
  const silent = Object.assign(Object.create(world.ledger) as Ledger, {
    holdingsOf: async () => Promise.reject(new LedgerUnavailable("nobody answers")),
  });
  expect(await found(silent)).toBe(0);
});

it("P13: what comes into an account that a transfer of ours has emptied is a deposit of its own", async () => {
  world = await transferWorld(SEND);
  const { must, buy, key, mints, sendOut, pass, storage, clock } = world;
  await must([buy(key, "0", { length: 1 })], key);
  const account = await world.stray(key.address, 3_000_000n);
  await found();
  const subjects = [account];
  const id = await sendOut({ kind: "collect", n: 0, mint: mints.USDC, to: key.address, subjects });
  // While it is under way, it tells itself what has left.
  expect(await found(hiding())).toBe(0);
  await pass(60);
  expect((await storage.transfer(id))?.state).toBe("done");
  expect(await rows()).toEqual([[3_000_000n, true]]);
  const again = Object.assign(Object.create(world.ledger) as Ledger, {
    holdingsOf: async (_: unknown, [mint]: readonly Address[]) =>
      agreed({
        slot: 1,
        endpoint: "one",
        lamports: 0n,
        tokens: [],
        accounts: mint === mints.USDC ? [{ address: account, mint, amount: 7n }] : [],
      }),
  });
  // Whoever lags shows what has left.
  expect(await found(again)).toBe(0);
  clock.advance(3_600_000);
  expect(await found(again)).toBe(1);
  expect(await rows()).toEqual([
    [3_000_000n, true],
    [7n, false],
  ]);
});
