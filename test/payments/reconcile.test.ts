/** M3: what a status says, and what the service's own wallets have signed, held against the chain afterwards. */
import { expect } from "vitest";
import { keypairSigner, signTransaction } from "../../src/ledger/sign-transaction.ts";
import type { Caller } from "../../src/payments/frame/accounts/caller.ts";
import type { TransactionRecord, TransactionStatus } from "../../src/payments/frame/tables/orders.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";
import { privateTest } from "../kit/private-test.ts";
import { serviceTest } from "../kit/service-test.ts";

const test = serviceTest.extend("world", ({ open }) => open({ broadcastDelayMs: 5_000 }));

interface Sending {
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly send: () => Promise<{ readonly id: string; readonly signature: string }>;
}

async function sending(world: ServiceFixture, usdc = 50_000_000n): Promise<Sending> {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc });
  const bob = world.wallet("bob");
  const send = async (): Promise<{ readonly id: string; readonly signature: string }> => {
    const { transactionId: id } = await world.send(caller, { from: alice, to: bob.address, amount: "1" });
    const signature = (await rowOf(world, id)).signature;
    return { id, signature: signature ?? "" };
  };
  return { caller, alice, send };
}

/** What a database says after all its witnesses have agreed on a lie. */
async function believe(world: ServiceFixture, id: string, status: TransactionStatus): Promise<void> {
  await world.storage.commit([{ writes: [{ table: "transactions", id, set: { status } }] }]);
}

async function rowOf(world: ServiceFixture, id: string): Promise<TransactionRecord> {
  const found = (await world.storage.transactionsAfter("", 100)).find((row) => row.id === id);
  if (found === undefined) throw new Error(`${id} is not stored`);
  return found;
}

async function land(world: ServiceFixture): Promise<void> {
  await world.pass(5_000);
  await world.finalize();
}

test("M3: nothing is found where every status is what the chain says", async ({ world }) => {
  const { send, caller } = await sending(world, 1_500_000n);
  // The second can be carried out only without the first.
  for (let index = 0; index < 2; index++) await send();
  const cancelled = await send();
  await world.service.cancelTransaction(caller, cancelled.id);
  await land(world);
  expect(await world.service.reconcile()).toEqual(
    expect.objectContaining({
      isExplained: true,
      addresses: 0, // modules: private
      findings: [], // modules: private
      purses: [],
      wallet: { transactions: 3, unproven: 0, findings: [] },
    }),
  );
});

test("M3: carried out and shown as failed, failed and shown as completed, never landed and shown as completed: each is found", async ({
  world,
}) => {
  const { send, caller } = await sending(world, 2_500_000n);
  const all = [await send(), await send(), await send()];
  const never = await send();
  await world.service.cancelTransaction(caller, never.id);
  await land(world);
  const rows = await world.storage.transactionsAfter("", 100);
  const statusOf = (id: string): string | undefined => rows.find((row) => row.id === id)?.status;
  const paid = all.filter(({ id }) => statusOf(id) === "completed");
  const broken = all.find(({ id }) => statusOf(id) === "failed");
  expect(paid).toHaveLength(2);
  const [hidden] = paid;
  if (hidden === undefined || broken === undefined) throw new Error("two were paid, one was not");
  await believe(world, hidden.id, "failed");
  await believe(world, broken.id, "completed");
  await believe(world, never.id, "completed");
  // Until no block takes the bytes any more nobody can say that they never landed.
  expect((await world.service.reconcile()).wallet).toMatchObject({ transactions: 4, unproven: 1 });
  world.chain.advance(400);
  const { isExplained, wallet } = await world.service.reconcile();
  expect(isExplained).toBe(false);
  expect(wallet).toMatchObject({ transactions: 4, unproven: 0 });
  expect(wallet.findings).toHaveLength(3);
  expect(wallet.findings).toEqual(
    expect.arrayContaining([
      { transactionId: hidden.id, status: "failed", signature: hidden.signature, onChain: "landed" },
      {
        transactionId: broken.id,
        status: "completed",
        signature: broken.signature,
        onChain: "landed_with_error",
      },
      { transactionId: never.id, status: "completed", signature: never.signature, onChain: "never_landed" },
    ]),
  );
});

test("what the nodes have forgotten is counted as unproven, and contradicts nothing", async ({ world }) => {
  const { send } = await sending(world);
  await send();
  await land(world);
  world.chain.advance(700);
  world.chain.faults.add(() => ({ kind: "restored", firstSlot: world.chain.slot() - 100 }));
  expect(await world.service.reconcile()).toMatchObject({
    isExplained: true,
    wallet: { transactions: 1, unproven: 1, findings: [] },
  });
});

// modules: private
privateTest(
  "what the sponsor has signed and no row knows of is found, its own payments are not",
  async ({ world }) => {
    const caller = await world.caller();
    const [alice, bob] = [world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n }), world.wallet("bob")];
    const { body } = await world.order(caller, {
      sender: alice,
      to: [{ address: bob.address, amount: "5" }],
    });
    world.chain.fund(body.ephemeralAddress, { usdc: 10_000_000n });
    await world.settle(10);
    const { address, secretKey } = world.sponsor;
    const honest = await world.service.reconcile();
    expect(honest).toMatchObject({
      isExplained: true,
      purses: [{ purse: "sponsor", address, unknownSignatures: [] }],
    });
    expect(honest.purses[0]?.transactions).toBeGreaterThan(0);

    const gift = {
      mint: null,
      decimals: 9,
      from: address,
      to: alice.address,
      amount: 1_000_000n,
      accountPayer: null,
    };
    const unsigned = await world.ledger.buildTransaction({
      feePayer: address,
      moves: [{ does: "transfer", ...gift }],
    });
    const { bytes, signature } = await signTransaction(unsigned, [keypairSigner(secretKey)]);
    await world.ledger.broadcast(bytes);
    world.chain.advance(35);
    expect(await world.service.reconcile()).toMatchObject({
      isExplained: false,
      purses: [{ purse: "sponsor", isWhole: true, unknownSignatures: [signature] }],
    });
  },
);
