/** Money that came in other ways than expected: beside the associated account, by no transfer, or of another mint. */
import {
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createMintToCheckedInstruction,
  createCloseAccountInstruction,
  getAssociatedTokenAddressSync,
  createAssociatedTokenAccountIdempotentInstruction,
  getMintLen,
  NATIVE_MINT,
  createSyncNativeInstruction,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { everythingIn } from "../../core/recorder.ts";
import { DAY, MINUTE, SOL, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

/** Token accounts of an owner, whatever is in them. */
async function accountsOf(world: Scene, owner: string): Promise<number> {
  const { accounts } = await world.ledger.strayAccounts(
    owner as never,
    [world.mints.USDC, world.mints.USDT],
    "finalized",
  );
  return accounts.length;
}

test("P13: a deposit to a token account that is not the associated one is brought there, counted and paid out", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.strayAccount(order.address, "USDC", order.due);
  await world.settle(2);
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  await world.pass(3 * MINUTE);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect(await accountsOf(world, order.address)).toBe(0);
  await world.judge();
});

test("P13: a collection that every node drops until it is dead is planned again, and its deposit is counted once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.strayAccount(order.address, "USDC", order.due);
  const lift = world.chain.faults.add(dropping);
  await world.passAndSettle(3 * MINUTE, 2);
  const payments = async () => (await world.storage.transaction(order.id))?.payments ?? [];
  expect((await payments()).map(({ kind, status }) => [kind, status])).toEqual([["collect", "broadcast"]]);
  const [dropped] = await payments();
  world.chain.advance(200);
  lift();
  await world.passAndSettle(3 * MINUTE, 12);
  const kinds = (await payments()).map(({ kind }) => kind).toSorted();
  expect(kinds).toEqual(["collect", "collect", "payout"]);
  expect(await world.ledger.statuses([dropped?.signature ?? ""])).toEqual([null]);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P13: part at the associated account and part beside it are one deposit", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.strayAccount(order.address, "USDC", order.due - 2_000_000n);
  await world.deposit(order.address, { usdc: 2_000_000n });
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  await world.pass(3 * MINUTE);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P13: what is beside the associated account at the end of the window counts, though nobody had looked", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const rule = ({ method }: { method: string }) =>
    method === "getTokenAccountsByOwner" ? ({ kind: "refuse", status: 503 } as const) : undefined;
  const lift = world.chain.faults.add(rule);
  await world.strayAccount(order.address, "USDC", order.due);
  // The last look before the end finds nothing out, and the first one after it does.
  world.clock.advance(31 * MINUTE);
  lift();
  await world.settle(14);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P13: DELETE sees it, at any commitment, and cannot cancel", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.strayAccount(order.address, "USDC", order.due);
  await expect(world.service.cancelTransaction(world.customer, order.id)).rejects.toMatchObject({
    code: "ALREADY_PROCESSED",
    details: { reason: "deposit_detected" },
  });
  await world.pass(3 * MINUTE);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await world.judge();
});

test("P13: beside the account of a cancelled order it is found within a day, and refunded", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  await world.strayAccount(order.address, "USDT", 3_000_000n);
  await world.passAndSettle(DAY + MINUTE, 12);
  await world.passAndSettle(11 * MINUTE, 8);
  expect(await world.shown(order)).toMatchObject({
    status: "cancelled",
    refunds: [{ asset: "USDT", status: "paid" }],
  });
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P13, P15: crumbs in a dozen accounts of their own are left alone and block nothing", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  for (let index = 0; index < 12; index++) await world.strayAccount(order.address, "USDC", 999n);
  await world.pass(5 * MINUTE);
  expect(await world.stateOf(order)).toBe("waiting");
  await expect(world.service.cancelTransaction(world.customer, order.id)).resolves.toMatchObject({
    status: "cancelled",
  });
  await world.settle(2);
  expect(await world.stateOf(order)).toBe("lingering");
  await world.sweep();
  expect(await world.stateOf(order)).toBe("resting");
  await world.judge();
});

test("P13: more accounts than fit one transaction are brought in by several", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  for (let index = 0; index < 6; index++) {
    await world.strayAccount(order.address, "USDC", order.due / 6n + 1n);
  }
  await world.pass(3 * MINUTE);
  await world.settle(6);
  await world.pass(3 * MINUTE);
  await world.settle(12);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  await world.judge();
});

test("P13: lamports that no transfer brought (a closed account's) are a deposit like any other", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
  const wrapped = Keypair.generate();
  const issuer = new PublicKey(world.chain.faucet.address);
  const rent = Number(await world.ledger.rentMinimum(165));
  await world.asIssuer(
    [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: wrapped.publicKey,
        lamports: rent + Number(order.due),
        space: 165,
        programId: TOKEN_PROGRAM_ID,
      }),
      createInitializeAccount3Instruction(wrapped.publicKey, NATIVE_MINT, issuer),
      createSyncNativeInstruction(wrapped.publicKey),
    ],
    { secretKey: wrapped.secretKey } as never,
  );
  await world.asIssuer([
    createCloseAccountInstruction(wrapped.publicKey, new PublicKey(order.address), issuer),
  ]);
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({
    status: "completed",
    refunds: [{ asset: "SOL", status: "paid" }],
  });
  expect((await world.held(world.bob.address))[0]).toBe(SOL + SOL / 2n);
  await world.judge();
});

test("P11: a Token-2022 mint, of whatever symbol, is written down and never touched", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  const twin = Keypair.generate();
  const issuer = new PublicKey(world.chain.faucet.address);
  const space = getMintLen([]);
  const account = getAssociatedTokenAddressSync(
    twin.publicKey,
    new PublicKey(order.address),
    true,
    TOKEN_2022_PROGRAM_ID,
  );
  await world.asIssuer(
    [
      SystemProgram.createAccount({
        fromPubkey: issuer,
        newAccountPubkey: twin.publicKey,
        lamports: Number(await world.ledger.rentMinimum(space)),
        space,
        programId: TOKEN_2022_PROGRAM_ID,
      }),
      createInitializeMint2Instruction(twin.publicKey, 6, issuer, null, TOKEN_2022_PROGRAM_ID),
      createAssociatedTokenAccountIdempotentInstruction(
        issuer,
        account,
        new PublicKey(order.address),
        twin.publicKey,
        TOKEN_2022_PROGRAM_ID,
      ),
      createMintToCheckedInstruction(
        twin.publicKey,
        account,
        issuer,
        order.due,
        6,
        [],
        TOKEN_2022_PROGRAM_ID,
      ),
    ],
    { secretKey: twin.secretKey } as never,
  );
  await world.settle(2);
  // It pays nothing, and it keeps nobody from cancelling.
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed", refunds: [] });
  const entries = await world.storage.entries(order.address);
  expect(entries.filter(({ mint }) => mint === twin.publicKey.toBase58())).toMatchObject([
    { kind: "deposit", amount: order.due },
  ]);
  await world.sweep();
  const { holdings } = await world.ledger.balances(order.address as never);
  expect(holdings).toMatchObject([{ mint: twin.publicKey.toBase58(), amount: order.due }]);
  const signed = (await world.ledger.signedBy(order.address as never)).transactions;
  expect(signed.length).toBeGreaterThan(0);
  for (const payment of (await world.storage.transaction(order.id))?.payments ?? []) {
    expect(everythingIn(payment)).not.toContain(twin.publicKey.toBase58());
  }
  await world.judge();
});

test("P11: wrapped SOL is a token like any other: written down apart from lamports, and never touched", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo({ asset: "SOL", amount: "0.5" });
  const issuer = new PublicKey(world.chain.faucet.address);
  const account = getAssociatedTokenAddressSync(NATIVE_MINT, new PublicKey(order.address), true);
  await world.asIssuer([
    createAssociatedTokenAccountIdempotentInstruction(
      issuer,
      account,
      new PublicKey(order.address),
      NATIVE_MINT,
    ),
    SystemProgram.transfer({ fromPubkey: issuer, toPubkey: account, lamports: order.due }),
    createSyncNativeInstruction(account),
  ]);
  await world.passAndSettle(31 * MINUTE);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
    refunds: [],
  });
  expect(await world.storage.entries(order.address)).toMatchObject([
    { kind: "deposit", mint: `wrapped ${NATIVE_MINT.toBase58()}`, amount: order.due },
  ]);
  await world.judge();
});
