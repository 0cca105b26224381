/** P11: tokens that are none of the service's assets leave a deposit address by an operator's word, once, and explained. */
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createSyncNativeInstruction,
  getAssociatedTokenAddressSync,
  NATIVE_MINT,
} from "@solana/spl-token";
import { Keypair, PublicKey, SystemProgram } from "@solana/web3.js";
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { CreatedOrderBody } from "../../../src/payments/private/accept-order.ts";
import { everythingIn } from "../../core/recorder.ts";
import { foreignMint, type ForeignMint } from "./foreign-mint.ts";
import { DAY, MINUTE, orderedAs, SOL, type Ordered, type Scene } from "./scene.ts";
import { sceneTest as test } from "./scene-test.ts";
import { sampled } from "../../kit/thorough.ts";
import { BY } from "../../kit/by.ts";
import { spendElsewhere } from "./spend-elsewhere.ts";

/** Another person than that of `BY`. */
const BEA = { actor: "bea", reason: "checked with the bank" };

/** An order that is over and paid, at whose address a foreign mint has arrived. */
async function settledWith(
  world: Scene,
  program: "token" | "token-2022",
  units = 7_000_000n,
  extension?: "hook" | "fee",
): Promise<{ readonly order: Ordered; readonly foreign: ForeignMint }> {
  const order = await world.sendTo();
  const foreign = await foreignMint(world, program, extension);
  await foreign.give(order.address, units);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await world.sweep();
  expect(await world.stateOf(order)).toBe("resting");
  return { order, foreign };
}

const returned = (world: Scene, order: Ordered, mint: string, to?: string) =>
  world.service.operator.returnTokens(order.id, { mint, to }, BY);

/** What the address's ledger has of a mint: zero once everything has left. */
async function onRecord(world: Scene, { address }: Ordered, mint: string): Promise<bigint> {
  const entries = (await world.storage.entries(address)).filter((entry) => entry.mint === mint);
  return entries.reduce((sum, { kind, amount }) => (kind === "deposit" ? sum + amount : sum - amount), 0n);
}

const reconciled = async (world: Scene) => {
  const { isExplained, findings } = await world.service.reconcile();
  return { isExplained, found: findings.flatMap((each) => each.findings) };
};

const PROGRAMS = ["token", "token-2022"] as const;

test.for(sampled(PROGRAMS, "mints that go back"))(
  "P11: a mint of the program %s goes back to the sender, its account is closed, and every unit is explained",
  async (program, { world }) => {
    const { order, foreign } = await settledWith(world, program);
    const { mint } = foreign;
    expect(await reconciled(world)).toEqual({
      isExplained: true,
      found: [{ finding: "other_mint", mint, units: "7000000" }],
    });
    expect(await returned(world, order, mint)).toEqual({
      state: "done",
      transactionId: order.id,
      address: order.address,
      mint,
      to: world.alice.address,
      amount: "7",
      left: "0",
    });
    await world.settle(8);
    expect(await foreign.heldBy(world.alice.address)).toBe(7_000_000n);
    expect(await foreign.heldBy(order.address)).toBe(0n);
    expect(await foreign.isOpen(order.address)).toBe(false);
    await world.sweep();
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
    expect(await world.stateOf(order)).toBe("resting");
    expect(await onRecord(world, order, mint)).toBe(0n);
    expect((await world.shown(order)).refunds).toMatchObject([
      { asset: mint, amount: "7", status: "paid", signature: expect.any(String) as string },
    ]);
    expect(await reconciled(world)).toEqual({ isExplained: true, found: [] });
    await world.judge();
  },
);

test("Q13: tokens go back to a sender that is a vault, as its order says", async ({ world }) => {
  const { service, customer, bob } = world;
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from("vault")], new PublicKey(bob.address));
  const sender = vault.toBase58();
  const recipients = [{ address: bob.address, amount: "5" }];
  const said = { mode: "private" as const, sender, senderAllowOffCurve: true, recipients };
  const pair = { inputAsset: "USDC", outputAsset: "USDC", amount: "5" };
  const { body: quote } = await service.createQuote(customer, { ...pair, ...said });
  const { quoteId } = quote;
  const { body } = await service.createTransaction(customer, { type: "send", quoteId, ...said });
  const order = orderedAs(body as CreatedOrderBody);
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 7_000_000n);
  await world.deposit(order.address, { usdc: order.due });
  await world.settle(10);
  await world.sweep();
  expect(await returned(world, order, foreign.mint)).toMatchObject({ state: "done", to: sender });
  await world.settle(8);
  expect(await foreign.heldBy(sender)).toBe(7_000_000n);
});

test("P11: the sponsor pays two fees and the difference between two accounts' rents, and gets its marker back", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token");
  await foreign.give(world.alice.address, 1n);
  const [before] = await world.held(world.sponsor.address);
  await returned(world, order, foreign.mint);
  await world.settle(8);
  expect(await foreign.isOpen(order.address)).toBe(false);
  // The rent of its marker comes back when that has got old.
  await world.sweep();
  const [after] = await world.held(world.sponsor.address);
  // Nobody's account had to be made, and the closed one's rent is the sponsor's.
  expect(after).toBeGreaterThan(before);
  expect(after - before).toBeLessThanOrEqual(await world.ledger.rentMinimum(165));
  await world.judge();
});

test.for(sampled(PROGRAMS, "what lies beside"))(
  "P11: what lies beside the associated account of the program %s goes along, to the owner that the operator names",
  async (program, { world }) => {
    const { order, foreign } = await settledWith(world, program);
    // Where an account of Token-2022 has to say that it is its owner's for ever, a bare one will do as well.
    for (let index = 0; index < 5; index++) await foreign.giveBeside(order.address, 10n);
    const carol = world.wallet("carol");
    const first = await returned(world, order, foreign.mint, carol.address);
    expect(first).toMatchObject({ to: carol.address, amount: "7.00003", left: "0.00002" });
    await world.settle(8);
    expect(await foreign.heldBy(carol.address)).toBe(7_000_030n);
    expect(await returned(world, order, foreign.mint, carol.address)).toMatchObject({
      amount: "0.00002",
      left: "0",
    });
    await world.settle(8);
    expect(await foreign.heldBy(carol.address)).toBe(7_000_050n);
    expect(await onRecord(world, order, foreign.mint)).toBe(0n);
    await world.judge();
  },
);

test("P11: wrapped SOL is returned by SOL's mint, and is not mistaken for lamports", async ({ open }) => {
  const world = await open();
  const order = await world.sendTo();
  const issuer = new PublicKey(world.chain.faucet.address);
  const account = getAssociatedTokenAddressSync(NATIVE_MINT, new PublicKey(order.address), true);
  await world.asIssuer([
    createAssociatedTokenAccountIdempotentInstruction(
      issuer,
      account,
      new PublicKey(order.address),
      NATIVE_MINT,
    ),
    SystemProgram.transfer({ fromPubkey: issuer, toPubkey: account, lamports: SOL / 2n }),
    createSyncNativeInstruction(account),
  ]);
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  const mint = NATIVE_MINT.toBase58();
  expect(await returned(world, order, mint)).toMatchObject({ mint, amount: "0.5", left: "0" });
  await world.settle(8);
  const { holdings } = await world.ledger.balances(world.alice.address);
  expect(holdings.find((each) => each.mint === mint)?.amount).toBe(SOL / 2n);
  expect(await onRecord(world, order, `wrapped ${mint}`)).toBe(0n);
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  expect((await world.shown(order)).refunds).toMatchObject([{ asset: "wSOL", amount: "0.5" }]);
  expect((await world.shown(order)).received).toEqual([
    { asset: "wSOL", mint, amount: "0.5", decimals: 9, payer: null, signature: null, counted: false },
  ]);
  await world.judge();
});

test("P11: ordered twice at once, once more while it is under way and once after, it is paid once", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token-2022");
  const both = await Promise.allSettled([
    returned(world, order, foreign.mint),
    returned(world, order, foreign.mint),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await expect(returned(world, order, foreign.mint)).rejects.toThrow(
    /is at work.*try again when it has come to rest/,
  );
  await world.settle(8);
  await expect(returned(world, order, foreign.mint)).rejects.toThrow(/holds nothing of/);
  expect(await foreign.heldBy(world.alice.address)).toBe(7_000_000n);
  const payments = (await world.storage.transaction(order.id))?.payments ?? [];
  expect(payments.filter(({ mark }) => mark.startsWith("return"))).toMatchObject([
    { mark: "return 1", kind: "refund", status: "finalized" },
  ]);
  await world.judge();
});

test("P11: what came to an address that was closed long ago is returned, and nothing was on record before", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  await world.passAndSettle(31 * MINUTE);
  await world.passAndSettle(DAY + MINUTE, 1);
  await world.passAndSettle(61 * DAY, 1);
  expect(await world.stateOf(order)).toBe("closed");
  const foreign = await foreignMint(world, "token-2022");
  await foreign.give(order.address, 5n);
  await returned(world, order, foreign.mint);
  await world.settle(8);
  // It has made a marker, which has to get old before the address is closed again.
  expect(await world.stateOf(order)).toBe("aging");
  await world.sweep();
  expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  await world.passAndSettle(DAY + MINUTE, 1);
  await world.passAndSettle(61 * DAY, 1);
  expect(await world.stateOf(order)).toBe("closed");
  expect(await foreign.heldBy(world.alice.address)).toBe(5n);
  const lines = (await world.storage.entries(order.address)).map(({ kind, amount }) => `${kind} ${amount}`);
  expect(lines.toSorted()).toEqual(["deposit 5", "refund 5"]);
  await world.judge();
});

test("P11: while the order is open, and while the address is held, it has to wait, in a sentence", async ({
  open,
}) => {
  const world = await open();
  const order = await world.sendTo();
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 5n);
  await expect(returned(world, order, foreign.mint)).rejects.toThrow(/is at work, with its order/);
  await world.service.cancelTransaction(world.customer, order.id);
  await world.settle(2);
  const held = { table: "deposits", id: order.address, set: { heldReason: "screening" } } as const;
  await world.storage.commit([{ writes: [held] }]);
  await expect(returned(world, order, foreign.mint)).rejects.toThrow(
    /is held \(screening\): release it first/,
  );
  await world.service.operator.releaseDeposit(order.id, BY);
  await world.settle(2);
  await returned(world, order, foreign.mint);
  await world.settle(8);
  expect(await foreign.heldBy(world.alice.address)).toBe(5n);
  await world.judge();
});

test("P11: what names no transaction, no mint or nobody who can be paid is refused, and nothing is changed", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token");
  const { service, mints, sponsor, treasury } = world;
  const { mint } = foreign;
  await expect(service.operator.returnTokens("tx_0", { mint }, BY)).rejects.toThrow(
    "there is no private transaction tx_0",
  );
  await expect(returned(world, order, "DOGE")).rejects.toThrow("mint: DOGE is no address of a mint");
  await expect(returned(world, order, mints.USDC)).rejects.toThrow(/^USDC goes back to the sender by itself/);
  const unknown = Keypair.generate().publicKey.toBase58();
  await expect(returned(world, order, unknown)).rejects.toThrow(/holds nothing of/);
  await expect(returned(world, order, mint, "0x12")).rejects.toThrow("to: 0x12 is no address");
  const reasons = await Promise.all(
    [
      mint,
      order.address,
      sponsor.address,
      treasury.address,
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    ].map((to) =>
      returned(world, order, mint, to).catch(
        (error: unknown) =>
          /^to: .* cannot be paid \((\w+)\): name a wallet$/.exec((error as Error).message)?.[1],
      ),
    ),
  );
  expect(reasons).toEqual(["mint", "own_address", "own_address", "own_address", "program"]);
  await world.settle(2);
  expect(await foreign.heldBy(order.address)).toBe(7_000_000n);
  expect((await world.shown(order)).refunds).toEqual([]);
  await world.judge();
});

test("M10: another owner than the sender is screened, and is no one person's word where it takes two", async ({
  open,
}) => {
  const refused = new Set<string>();
  const screen = async (address: string): Promise<"ok" | "refused"> =>
    refused.has(address) ? "refused" : "ok";
  const world = await open({}, { screen });
  const carol = world.wallet("carol", { lamports: SOL, usdc: 50_000_000n });
  const order = await world.sendTo();
  const foreign = await foreignMint(world, "token");
  await foreign.give(order.address, 7_000_000n);
  await world.openAccount({ ...carol, address: order.address as Address }, "USDC");
  await world.payTokens(carol, order.address, "USDC", order.due);
  await world.settle(12);
  await world.sweep();
  const { mint } = foreign;
  const to = world.wallet("dave", { lamports: SOL }).address;
  refused.add(to);
  await expect(returned(world, order, mint, to)).rejects.toThrow(`the host's screening refuses ${to}`);
  refused.delete(to);
  const two = world.another({ approvals: 2 });
  expect(await two.operator.returnTokens(order.id, { mint, to }, BY)).toMatchObject({
    state: "awaits_approval",
  });
  await world.settle(2);
  expect(await foreign.heldBy(order.address)).toBe(7_000_000n);
  expect(await two.operator.returnTokens(order.id, { mint }, BY)).toMatchObject({
    to: world.alice.address,
    state: "done",
  });
  await world.settle(8);
  expect(await foreign.heldBy(world.alice.address)).toBe(7_000_000n);
  await world.judge();
});

test("M35: tokens that two people send elsewhere are those that were there when the first one asked, once", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token");
  const { mint } = foreign;
  const to = world.wallet("dave", { lamports: SOL }).address;
  const { operator } = world.another({ approvals: 2 });
  const asked = await operator.returnTokens(order.id, { mint, to }, BY);
  expect(asked).toMatchObject({ state: "awaits_approval", amount: "7" });
  const id = asked.approve ?? "";
  await foreign.give(order.address, 2_000_000n);
  world.chain.advance(35);
  await expect(operator.approve(id, { address: to }, BY)).rejects.toThrow("another actor has to approve");
  const other = world.alice.address;
  await expect(operator.approve(id, { address: other }, BEA)).rejects.toThrow("confirm that, or nothing");
  await expect(operator.approve(`${id}x`, { address: to }, BEA)).rejects.toThrow("waits for an approval");
  await world.settle(2);
  expect(await foreign.heldBy(to)).toBe(0n);
  expect(await operator.approve(id, { address: to }, BEA)).toMatchObject({ state: "done" });
  await foreign.giveBeside(order.address, 1_000_000n);
  await world.settle(8);
  expect(await foreign.heldBy(to)).toBe(7_000_000n);
  expect(await foreign.heldBy(order.address)).toBe(3_000_000n);
  await expect(operator.approve(id, { address: to }, BEA)).rejects.toThrow("waits for an approval");
  const what = { mint, to, amount: "7", transactionId: order.id };
  expect(await operator.auditLog()).toMatchObject([
    { act: "request_return_tokens", actor: BY.actor, what },
    { act: "return_tokens", actor: BEA.actor, what: { ...what, left: "2", requestedBy: BY.actor } },
  ]);
  await world.judge();
});

test("M35: tokens that one person sends elsewhere are those that were there by then", async ({ world }) => {
  const { order, foreign } = await settledWith(world, "token");
  const to = world.wallet("dave", { lamports: SOL }).address;
  await world.service.stop();
  await returned(world, order, foreign.mint, to);
  await foreign.give(order.address, 2_000_000n);
  world.chain.advance(35);
  await world.service.start();
  await world.settle(8);
  expect(await foreign.heldBy(to)).toBe(7_000_000n);
  expect(await foreign.heldBy(order.address)).toBe(2_000_000n);
});

test("M35: of two people who confirm a return at once one does, and it is made once", async ({ world }) => {
  const { order, foreign } = await settledWith(world, "token");
  const { mint } = foreign;
  const to = world.wallet("dave", { lamports: SOL }).address;
  const { operator } = world.another({ approvals: 2 });
  const { approve = "" } = await operator.returnTokens(order.id, { mint, to }, BY);
  const confirmed = await Promise.allSettled(
    [BEA, { ...BEA, actor: "Cleo" }].map((by) => operator.approve(approve, { address: to }, by)),
  );
  expect(confirmed.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  await world.settle(8);
  expect(await foreign.heldBy(to)).toBe(7_000_000n);
  expect((await operator.auditLog()).map(({ act }) => act)).toEqual([
    "request_return_tokens",
    "return_tokens",
  ]);
});

test("P11: the sponsor runs no program of a mint's own, and what an issuer has frozen stays: refused before anything is signed", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token-2022", 9n, "hook");
  await expect(returned(world, order, foreign.mint)).rejects.toThrow(
    /cannot be sent to .*: the chain would refuse it/,
  );
  const frozen = await foreignMint(world, "token");
  await frozen.give(order.address, 3n);
  await frozen.freeze(order.address);
  await expect(returned(world, order, frozen.mint)).rejects.toThrow(
    /accounts at the deposit address are frozen/,
  );
  await world.settle(2);
  for (const payment of (await world.storage.transaction(order.id))?.payments ?? []) {
    expect(everythingIn(payment)).not.toContain(foreign.mint);
    expect(everythingIn(payment)).not.toContain(frozen.mint);
  }
  expect(await world.stateOf(order)).toBe("resting");
  await world.judge();
});

test("P11: a frozen account keeps nothing back that lies in another", async ({ world }) => {
  const { order, foreign } = await settledWith(world, "token");
  await foreign.giveBeside(order.address, 20n);
  await foreign.freeze(order.address);
  expect(await returned(world, order, foreign.mint)).toMatchObject({ amount: "0.00002", left: "7" });
  await world.settle(8);
  expect(await foreign.heldBy(world.alice.address)).toBe(20n);
  expect(await onRecord(world, order, foreign.mint)).toBe(7_000_000n);
  await world.judge();
});

test("P11: of a mint that keeps a fee the rest arrives, and an account that cannot be closed for it stays open, empty", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token-2022", 1n, "fee");
  const carol = world.wallet("carol", { lamports: SOL });
  await foreign.give(carol.address, 1_000n);
  await foreign.send(carol, order.address, 1_000n);
  expect(await returned(world, order, foreign.mint)).toMatchObject({ amount: "0.000991", left: "0" });
  await world.settle(8);
  // One percent, rounded up, stays with the issuer at each of the two transfers.
  expect(await foreign.heldBy(world.alice.address)).toBe(981n);
  expect(await foreign.heldBy(order.address)).toBe(0n);
  expect(await foreign.isOpen(order.address)).toBe(true);
  expect(await onRecord(world, order, foreign.mint)).toBe(0n);
  await world.sweep();
  expect(await world.stateOf(order)).toBe("resting");
  await world.judge();
});

test("P11: frozen between the word and the payment it stays where it is, and the address goes on", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token");
  await world.service.stop();
  await returned(world, order, foreign.mint);
  await foreign.freeze(order.address);
  const again = world.another();
  await again.start();
  for (let round = 0; round < 6; round++) {
    await again.settled();
    world.chain.advance(35);
  }
  expect(await world.stateOf(order)).toBe("resting");
  expect(await foreign.heldBy(order.address)).toBe(7_000_000n);
  // What comes of our own assets is refunded as ever.
  world.chain.fund(order.address, { usdc: 2_000_000n });
  world.chain.advance(35);
  world.clock.advance(MINUTE);
  for (let round = 0; round < 6; round++) {
    await again.settled();
    world.chain.advance(35);
  }
  expect((await again.transaction(world.customer, order.id)).refunds).toMatchObject([
    { asset: "USDC", status: "paid" },
  ]);
  await again.stop();
});

test("P11: tokens that come after the order stay: no more goes than it names, and what is emptied by it is closed", async ({
  world,
}) => {
  const { order, foreign } = await settledWith(world, "token");
  const dave = world.wallet("dave", { lamports: SOL });
  await foreign.giveBeside(order.address, 5_000_000n);
  await world.service.stop();
  const { operator } = world.service;
  expect(await operator.returnTokens(order.id, { mint: foreign.mint, to: dave.address }, BY)).toMatchObject({
    amount: "12",
  });
  await foreign.giveBeside(order.address, 900_000_000n);
  await foreign.giveBeside(order.address, 30_000_000n);
  await world.service.start();
  await world.settle(10);
  expect(await foreign.heldBy(dave.address)).toBe(12_000_000n);
  expect(await foreign.isOpen(order.address)).toBe(false);
  // The rest waits for another word.
  expect(await world.stateOf(order)).toBe("aging");
  const left = await operator.returnTokens(order.id, { mint: foreign.mint }, BY);
  expect(left).toMatchObject({ amount: "930", to: world.alice.address });
  await world.settle(10);
  expect(await foreign.heldBy(dave.address)).toBe(12_000_000n);
  expect(await onRecord(world, order, foreign.mint)).toBe(0n);
  expect(await reconciled(world)).toEqual({ isExplained: true, found: [] });
});

test("R4: tokens of an address that has paid without us are not returned", async ({ world }) => {
  const { order, foreign } = await settledWith(world, "token");
  await world.pay(world.alice, order.address, 1_000_000n);
  await spendElsewhere(world, order);
  await expect(returned(world, order, foreign.mint)).rejects.toThrow("is held (unknown_spending)");
  expect(await foreign.heldBy(order.address)).toBe(7_000_000n);
});

test("R4: nor where it has paid without us after they were ordered to be returned", async ({ world }) => {
  const { order, foreign } = await settledWith(world, "token");
  await world.service.stop();
  await returned(world, order, foreign.mint);
  await world.pay(world.alice, order.address, 1_000_000n);
  await spendElsewhere(world, order);
  await world.service.start();
  await world.settle(4);
  expect(await foreign.heldBy(order.address)).toBe(7_000_000n);
  expect(await world.stateOf(order)).toBe("held");
});
