/** M3: what a status says, and what the service's own wallets have signed, held against the chain afterwards. */
import { afterEach, expect, test } from "vitest";
import { keypairSigner, signTransaction } from "../../src/ledger/sign-transaction.ts";
import type { Caller } from "../../src/payments/accounts/caller.ts";
import type { TransactionRecord, TransactionStatus } from "../../src/payments/records.ts";
import type { Wallet } from "../kit/chain-fixture.ts";
import { privateFixture } from "../kit/private-fixture.ts";
import { serviceFixture } from "../kit/service-fixture.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";

let world: ServiceFixture;
afterEach(() => world.close());

interface Sending {
  readonly caller: Caller;
  readonly alice: Wallet;
  readonly send: () => Promise<{ readonly id: string; readonly signature: string }>;
}

async function sending(usdc = 50_000_000n): Promise<Sending> {
  world = await serviceFixture({ broadcastDelayMs: 5_000 });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc });
  const bob = world.wallet("bob");
  const send = async (): Promise<{ readonly id: string; readonly signature: string }> => {
    const { transactionId: id } = await world.send(caller, { from: alice, to: bob.address, amount: "1" });
    const signature = (await rowOf(id)).signature;
    return { id, signature: signature ?? "" };
  };
  return { caller, alice, send };
}

/** What a database says after all its witnesses have agreed on a lie. */
async function believe(id: string, status: TransactionStatus): Promise<void> {
  await world.storage.commit([{ writes: [{ table: "transactions", id, set: { status } }] }]);
}

async function rowOf(id: string): Promise<TransactionRecord> {
  const found = (await world.storage.transactionsAfter("", 100)).find((row) => row.id === id);
  if (found === undefined) throw new Error(`${id} is not stored`);
  return found;
}

async function land(): Promise<void> {
  await world.pass(5_000);
  await world.finalize();
}

test("M3: nothing is found where every status is what the chain says", async () => {
  const { send, caller } = await sending(1_500_000n);
  // The second can be carried out only without the first.
  for (let index = 0; index < 2; index++) await send();
  const cancelled = await send();
  await world.service.cancelTransaction(caller, cancelled.id);
  await land();
  expect(await world.service.reconcile()).toEqual(
    expect.objectContaining({
      ...{ isExplained: true, addresses: 0, findings: [], purses: [] },
      wallet: { transactions: 3, unproven: 0, findings: [] },
    }),
  );
});

test("M3: carried out and shown as failed, failed and shown as completed, never landed and shown as completed: each is found", async () => {
  const { send, caller } = await sending(2_500_000n);
  const all = [await send(), await send(), await send()];
  const never = await send();
  await world.service.cancelTransaction(caller, never.id);
  await land();
  const rows = await world.storage.transactionsAfter("", 100);
  const statusOf = (id: string): string | undefined => rows.find((row) => row.id === id)?.status;
  const paid = all.filter(({ id }) => statusOf(id) === "completed");
  const broken = all.find(({ id }) => statusOf(id) === "failed");
  expect(paid).toHaveLength(2);
  const [hidden] = paid;
  if (hidden === undefined || broken === undefined) throw new Error("two were paid, one was not");
  await believe(hidden.id, "failed");
  await believe(broken.id, "completed");
  await believe(never.id, "completed");
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

test("what the nodes have forgotten is counted as unproven, and contradicts nothing", async () => {
  const { send } = await sending();
  await send();
  await land();
  world.chain.advance(700);
  world.chain.faults.add(() => ({ kind: "restored", firstSlot: world.chain.slot() - 100 }));
  expect(await world.service.reconcile()).toMatchObject({
    isExplained: true,
    wallet: { transactions: 1, unproven: 1, findings: [] },
  });
});

test("what the sponsor has signed and no row knows of is found, its own payments are not", async () => {
  const fixture = await privateFixture();
  world = fixture;
  const caller = await fixture.caller();
  const [alice, bob] = [
    fixture.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n }),
    fixture.wallet("bob"),
  ];
  const { body } = await fixture.order(caller, {
    sender: alice,
    to: [{ address: bob.address, amount: "5" }],
  });
  fixture.chain.fund(body.ephemeralAddress, { usdc: 10_000_000n });
  await fixture.settle(10);
  const { address, secretKey } = fixture.sponsor;
  const honest = await fixture.service.reconcile();
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
  const unsigned = await fixture.ledger.buildTransaction({
    feePayer: address,
    moves: [{ does: "transfer", ...gift }],
  });
  const { bytes, signature } = await signTransaction(unsigned, [keypairSigner(secretKey)]);
  await fixture.ledger.broadcast(bytes);
  fixture.chain.advance(35);
  expect(await fixture.service.reconcile()).toMatchObject({
    isExplained: false,
    purses: [{ purse: "sponsor", isWhole: true, unknownSignatures: [signature] }],
  });
});
