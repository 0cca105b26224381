/** Money that came in other ways than expected: beside the associated account, by no transfer, or of another mint. */
// modules: private
import {
  createInitializeAccount3Instruction,
  createCloseAccountInstruction,
  NATIVE_MINT,
  createSyncNativeInstruction,
  TOKEN_PROGRAM_ID,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import { BY } from "../../kit/by.ts";
import { MINUTE, SOL, transfersOf, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { dropping } from "../../kit/odd-endpoints.ts";
import { units } from "../../kit/money.ts";

/** Token accounts of an owner, whatever is in them. */
async function accountsOf(world: Scene, owner: string): Promise<number> {
  const { accounts } = await world.ledger.holdingsOf(
    owner as never,
    [world.mints.USDC, world.mints.USDT],
    "finalized",
  );
  return accounts.length;
}

/** A person has what lies beside the accounts that count brought to where it does. */
async function collect(world: Scene, order: Ordered): Promise<void> {
  await world.service.operator.resolve(order.id, { action: "collect" }, BY);
  await world.passAndSettle(MINUTE, 6);
  await world.passAndSettle(11 * MINUTE, 6);
}

test("P13: a deposit to a token account that is not the associated one is shown and never counts; a matter tells a person, and collect brings it back", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const [, before] = await world.held(world.alice.address);
  await world.strayAccount(order.address, "USDC", order.due);
  await world.passAndSettle(5 * MINUTE, 2);
  expect(await world.shown(order)).toMatchObject({ status: "pending" });
  await world.passAndSettle(31 * MINUTE);
  expect(await world.shown(order)).toMatchObject({
    status: "failed",
    reason: "DEPOSIT_TIMEOUT",
    received: [{ asset: "USDC", counted: false }],
    refunds: [],
  });
  expect(await world.service.reconcile()).toMatchObject({
    isExplained: true,
    findings: [{ findings: [{ finding: "uncounted", asset: "USDC" }] }],
  });
  expect(await world.service.operator.attention()).toMatchObject([
    { kind: "unexplained", transactionId: order.id, actions: ["collect", "drop"] },
  ]);
  await collect(world, order);
  expect(await world.service.operator.attention()).toEqual([]);
  // The account's rent came with it.
  expect(await world.shown(order)).toMatchObject({
    refunds: [
      { asset: "SOL", status: "paid" },
      { asset: "USDC", status: "paid" },
    ],
  });
  expect((await world.held(world.alice.address))[1]).toBeGreaterThan(before + order.due - 500_000n);
  expect((await world.held(world.bob.address))[1]).toBe(0n);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect(await accountsOf(world, order.address)).toBe(0);
  await world.judge();
});

test("P13: a collection that every node drops until it is dead is signed again, and brings what it is for once", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  await world.strayAccount(order.address, "USDC", order.due);
  await world.service.reconcile();
  const lift = world.chain.faults.add(dropping);
  await world.service.operator.resolve(order.id, { action: "collect" }, BY);
  await world.passAndSettle(MINUTE, 2);
  const [planned] = await transfersOf(world, order, "collect");
  expect(planned).toMatchObject({ state: "out" });
  world.chain.advance(200);
  lift();
  await world.passAndSettle(5 * MINUTE, 6);
  await world.passAndSettle(11 * MINUTE, 6);
  const attempts = await world.storage.attemptsOf(planned?.id ?? "");
  expect(attempts.length).toBeGreaterThan(1);
  expect(await transfersOf(world, order, "collect")).toMatchObject([{ state: "done" }]);
  const { refunds } = await world.shown(order);
  expect(refunds).toMatchObject([
    { asset: "SOL", status: "paid" },
    { asset: "USDC", status: "paid" },
  ]);
  const tokens = refunds.filter(({ asset }) => asset === "USDC");
  expect(tokens.map(({ amount, cost }) => units(amount, 6) + units(cost, 6))).toEqual([order.due]);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.judge();
});

test("P13, P15: crumbs in a dozen accounts of their own keep no order from being cancelled", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  for (let index = 0; index < 12; index++) await world.strayAccount(order.address, "USDC", 999n);
  await world.pass(5 * MINUTE);
  await expect(world.service.cancelTransaction(world.customer, order.id)).resolves.toMatchObject({
    status: "cancelled",
  });
  await world.settle(2);
  expect(await world.stateOf(order)).toBe("recent");
  await world.service.reconcile();
  expect(await world.service.operator.attention()).toEqual([]);
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
