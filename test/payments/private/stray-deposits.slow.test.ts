/** Money that came in other ways than expected: beside the associated account, by no transfer, or of another mint. */
// modules: private
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

test("P13: what comes to one account twice is one sum, also after it was collected", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  const came = async () =>
    (await world.shown(order)).received?.map(({ asset, amount, counted }) => [asset, amount, counted]);
  const account = await world.strayAccount(order.address, "USDC", 1_000_000n);
  world.chain.advance(35);
  await world.service.reconcile();
  await world.mintInto(account, "USDC", 2_000_000n);
  world.chain.advance(35);
  await world.service.reconcile();
  expect(await came()).toEqual([["USDC", "3", false]]);
  await collect(world, order);
  await world.passAndSettle(61 * MINUTE, 4);
  await world.service.reconcile();
  expect(await came()).toEqual([
    ["USDC", "3", false],
    ["SOL", "0.00203928", false],
  ]);
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

test("P13: more accounts than fit one transaction are brought in by several", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  await world.service.cancelTransaction(world.customer, order.id);
  for (let index = 0; index < 6; index++) {
    await world.strayAccount(order.address, "USDC", 1_000_000n);
  }
  await world.service.reconcile();
  await collect(world, order);
  for (let more = 0; more < 6; more++) await world.passAndSettle(2 * MINUTE, 6);
  for (let look = 0; look < 2; look++) await world.passAndSettle(11 * MINUTE, 6);
  expect(await accountsOf(world, order.address)).toBe(0);
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect((await world.held(world.alice.address))[1]).toBeGreaterThan(5_000_000n);
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
  const mint = twin.publicKey.toBase58();
  expect((await world.shown(order)).received?.filter((each) => each.mint === mint)).toMatchObject([
    { counted: false },
  ]);
  const { holdings } = await world.ledger.balances(order.address as never);
  expect(holdings).toMatchObject([{ mint, amount: order.due }]);
  const { transfers = [] } = (await world.storage.orderedTransaction(order.id))?.order ?? {};
  const attempts = await world.storage.attemptsOfAny(transfers.map(({ id }) => id));
  expect(attempts.length).toBeGreaterThan(0);
  for (const { bytes } of attempts) {
    expect(Buffer.from(bytes).includes(twin.publicKey.toBuffer())).toBe(false);
  }
  await world.judge();
});

test("P11: wrapped SOL is a token like any other: shown apart from lamports, and brought back by collect alone", async ({
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
  expect((await world.shown(order)).received).toMatchObject([
    { mint: NATIVE_MINT.toBase58(), counted: false },
  ]);
  const [before] = await world.held(world.alice.address);
  await collect(world, order);
  // What was wrapped, and the rent of its account.
  expect(await world.shown(order)).toMatchObject({
    received: [
      { asset: "SOL", counted: false },
      { asset: "SOL", counted: false },
    ],
    refunds: [{ asset: "SOL", status: "paid" }],
  });
  expect((await world.held(world.alice.address))[0]).toBeGreaterThan(before + order.due - 1_000_000n);
  await world.judge();
});
