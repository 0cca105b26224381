/** M23: no marker is closed before its time, whoever asks for what lies on it. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createSyncNativeInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
} from "@solana/spl-token";
import { PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { MoveOf } from "../../../src/ledger/routing.ts";
import { keypairSigner, signTransaction } from "../../../src/ledger/sign-transaction.ts";
import { ORDER_WORDS } from "../../../src/payments/outgoing/plans/words.ts";
import { readPlan, withSeeds, writePlan } from "../../../src/payments/outgoing/plans/stored-plan.ts";
import { depositKeys } from "../../../src/payments/secrets/deposit-keys.ts";
import { BY } from "../../kit/by.ts";
import { TEST_MASTER_SECRET } from "../../kit/service-fixture.ts";
import { SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";

const WRAPPED = NATIVE_MINT.toBase58();

const keysOf = (world: Scene) => depositKeys([TEST_MASTER_SECRET], () => world.chain.genesisHash);

/** The key of an order's address, by which words and signatures are made. */
const keyOf = ({ id }: Ordered) => ({ masterVersion: TEST_MASTER_SECRET.version, transactionId: id });

const markerOf = (world: Scene, order: Ordered, words = ORDER_WORDS): Address =>
  world.ledger.markerAddress(order.address as Address, keysOf(world).seed(keyOf(order), words));

/** A stranger pays lamports into an account of wrapped SOL, and has the chain count them as tokens. */
async function wrapInto(world: Scene, account: PublicKey, lamports: bigint): Promise<void> {
  const issuer = new PublicKey(world.chain.faucet.address);
  await world.asIssuer([
    SystemProgram.transfer({ fromPubkey: issuer, toPubkey: account, lamports }),
    createSyncNativeInstruction(account),
  ]);
}

/** An order that is paid and at rest, on whose marker a stranger has wrapped SOL. */
async function paidAndWrapped(world: Scene): Promise<Ordered> {
  const order = await world.sendTo();
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  await wrapInto(world, new PublicKey(markerOf(world, order)), SOL / 100n);
  return order;
}

const stands = async (world: Scene, order: Ordered): Promise<boolean> => {
  const seed = keysOf(world).seed(keyOf(order), ORDER_WORDS);
  const { markers } = await world.ledger.markers(order.address as Address, [seed]);
  return typeof markers[0] === "object";
};

const returned = (world: Scene, order: Ordered) =>
  world.service.operator.returnTokens(order.id, { mint: WRAPPED }, BY);

test("M23: wrapped SOL on a marker is not returned, and a kept version of the payout pays nobody again", async ({
  world,
}) => {
  const order = await paidAndWrapped(world);
  const payout = (await world.storage.transaction(order.id))?.payments.find(({ kind }) => kind === "payout");
  const keys = keysOf(world);
  // Signed like a version whose send was lost: the service signs the same words as often as nodes tell it to.
  const plan = withSeeds(readPlan(payout?.plan ?? ""), (words) => keys.seed(keyOf(order), words));
  const signers = [keypairSigner(world.sponsor.secretKey), keys.signer(keyOf(order))];
  const { bytes } = await signTransaction(await world.ledger.buildTransaction(plan), signers);

  const refusal = await returned(world, order).catch((error: unknown) => String(error));
  await world.settle(3);
  world.chain.fund(order.address, { usdc: 5_000_000n });
  await world.ledger.broadcast(bytes).catch(() => undefined);
  world.chain.advance(35);
  expect((await world.held(world.bob.address))[1]).toBe(5_000_000n);
  expect(await stands(world, order)).toBe(true);
  expect(refusal).toMatch(/holds nothing of .* that may be moved: .* may be the marker of a payment/);
});

test("M23: wrapped SOL in the associated account goes back, and what lies on a marker beside it stays and is not counted", async ({
  world,
}) => {
  const order = await paidAndWrapped(world);
  const owner = new PublicKey(order.address);
  const account = getAssociatedTokenAddressSync(NATIVE_MINT, owner, true);
  const issuer = new PublicKey(world.chain.faucet.address);
  await world.asIssuer([
    createAssociatedTokenAccountIdempotentInstruction(issuer, account, owner, NATIVE_MINT),
  ]);
  await wrapInto(world, account, SOL / 2n);
  expect(await returned(world, order)).toMatchObject({ amount: "0.5", left: "0" });
  await world.settle(8);
  const { holdings } = await world.ledger.balances(world.alice.address);
  expect(holdings.find(({ mint }) => mint === WRAPPED)?.amount).toBe(SOL / 2n);
  expect(await stands(world, order)).toBe(true);
  const lines = (await world.storage.entries(order.address)).filter(({ mint }) => mint.startsWith("wrapped"));
  // The address and the payment note each its own line: either may come first.
  expect(lines).toHaveLength(2);
  expect(lines).toEqual(
    expect.arrayContaining(
      ["deposit", "refund"].map((kind) => expect.objectContaining({ kind, amount: SOL / 2n }) as object),
    ),
  );
  // What a stranger wrapped goes with the marker's rent, once that is closed.
  const [before] = await world.held(world.sponsor.address);
  await world.sweep();
  expect(await stands(world, order)).toBe(false);
  const [after] = await world.held(world.sponsor.address);
  expect(after - before).toBeGreaterThan(SOL / 100n);
  await world.judge();
});

test("M23: an account of wrapped SOL that no payment explains counts as another copy's marker and stays", async ({
  world,
}) => {
  const order = await world.sendTo();
  const ofAnotherCopy = markerOf(world, order, "plan of another copy");
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  const sponsor = keypairSigner(world.sponsor.secretKey);
  const deposit = keysOf(world).signer(keyOf(order));
  const seed = keysOf(world).seed(keyOf(order), "plan of another copy");
  const moves = [{ does: "mark", base: order.address as Address, seed, payer: sponsor.address }] as const;
  const unsigned = await world.ledger.buildTransaction({ feePayer: sponsor.address, moves });
  const { bytes } = await signTransaction(unsigned, [sponsor, deposit]);
  await world.ledger.broadcast(bytes);
  world.chain.advance(35);
  // An operator vouches for the copy's transaction, or the address would be held for it.
  await world.service.operator.releaseDeposit(order.id, BY);
  await world.settle(2);
  await wrapInto(world, new PublicKey(ofAnotherCopy), SOL / 100n);
  await expect(returned(world, order)).rejects.toThrow("may be the marker of a payment");
});

/** Moves that a planner of the service could have planned, and that take what lies on the order's marker. */
function takingMoves(
  world: Scene,
  order: Ordered,
  mint: Address,
): readonly [MoveOf<"transfer">, MoveOf<"close">] {
  const from = order.address as Address;
  const account = markerOf(world, order);
  const to = world.sponsor.address;
  const kind = { mint, decimals: 6, accountPayer: to } as const;
  return [
    { does: "transfer", ...kind, from, fromAccount: account, to, amount: 1n },
    { does: "close", mint, owner: from, to, account },
  ];
}

test.for([
  ["it is emptied", () => WRAPPED, [0]],
  ["it is closed", () => WRAPPED, [1]],
  ["it is closed, named as an account of another mint", ({ mints }: Scene) => mints.USDC, [1]],
  ["it is emptied and closed, named as an account of another mint", ({ mints }: Scene) => mints.USDC, [0, 1]],
] as const)(
  "M23: the deposit key signs no plan for a marker of the order by which %s, whoever planned it",
  async ([, mintOf, taken], { world }) => {
    const order = await paidAndWrapped(world);
    const [payment] = (await world.storage.transaction(order.id))?.payments ?? [];
    if (payment === undefined) throw new Error("the order has a payment");
    const all = takingMoves(world, order, mintOf(world) as Address);
    const moves = taken.map((index) => all[index]);
    const feePayer = world.sponsor.address;
    const plan = writePlan({ feePayer, moves, movements: [], indexes: [], withheld: "0" });
    await world.storage.commit([{ writes: [{ table: "payments", id: payment.id, set: { plan } }] }]);
    const sign = world.service.workflows.find(({ name }) => name === "payment")?.effects.get("sign");
    if (typeof sign !== "function") throw new Error("payments are signed");
    const { signal } = new AbortController();
    const run = { key: "", instance: payment.id, signal, dueAt: 0, crashes: 0, failures: 0 };
    expect(await sign({ paymentId: payment.id, attempt: 1 }, run)).toEqual({
      event: { type: "REFUSED", fault: { kind: "other", move: null } },
    });
  },
);
