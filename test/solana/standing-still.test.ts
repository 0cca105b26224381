/** Endpoints that follow the chain no more: what they tell is old after ten minutes, and contradicts nobody. */
import { expect } from "vitest";
import type { Address } from "../../src/address.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { keypairSigner, signTransaction } from "../../src/ledger/sign-transaction.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { blockClock, signPayment, type ChainFixture, type Wallet } from "../kit/chain-fixture.ts";
import { chainTest as test } from "../kit/chain-test.ts";
import { oddEndpoint, type OddEndpoint, type OddRule } from "../kit/odd-endpoints.ts";

const MINUTE = 60_000;
/** More than the last block that takes signed bytes, and its finality. */
const LIFE_OF_BYTES = 200;

interface ThreeNodes {
  readonly ledger: Ledger;
  readonly second: OddEndpoint;
  readonly third: OddEndpoint;
}

/** A ledger over three nodes, of which two must agree. */
function threeNodes({ chain, clock }: ChainFixture): ThreeNodes {
  const [second, third] = [oddEndpoint(chain, "second"), oddEndpoint(chain, "third")];
  const endpoints = [oddEndpoint(chain, "first"), second, third];
  const ledger = solanaLedger({
    endpoints: endpoints.map(({ option }) => option),
    clock: blockClock(chain, clock),
  });
  return { ledger, second, third };
}

/** From now on it shows the chain as it is now. */
function stoppedAt({ chain }: ChainFixture): OddRule {
  const slot = chain.slot();
  return () => ({ kind: "lag", slots: chain.slot() - slot });
}

/** Minutes pass, in which the ledger is asked something every five. */
async function pass({ chain, clock }: ChainFixture, { ledger }: ThreeNodes, minutes: number): Promise<void> {
  for (let passed = 0; passed < minutes; passed += 5) {
    clock.advance(5 * MINUTE);
    chain.advance(2);
    await ledger.heights("finalized");
    // The comparison of the endpoints goes on beside the question.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

const subjectsOf = async ({ ledger }: ThreeNodes): Promise<readonly string[]> =>
  (await ledger.disputes()).map(({ subject }) => subject);

/** A payment of alice's that was signed and never sent. */
async function unsent(world: ChainFixture) {
  const [alice, bob] = [world.wallet("alice", { lamports: 1_000_000_000n }), world.wallet("bob")];
  const transfers = [{ recipient: bob.address, amount: 1_000_000n }];
  const payment = { sender: alice.address, mint: null, decimals: 9, transfers };
  const { bytes } = await world.ledger.buildPayment(payment, new Uint8Array(32).fill(9));
  const answer = await world.ledger.verifyPayment(signPayment(bytes, alice.secretKey), payment);
  if ("refused" in answer) throw new Error(answer.refused);
  return { ...answer.verified, reference: null };
}

/** A node that shows every signature in a block that is not final. */
const showsAll: OddRule = ({ method }) =>
  method === "getSignatureStatuses"
    ? {
        kind: "lie",
        answer: (({ context, value }: { context: { slot: number }; value: unknown[] }) => ({
          context,
          value: value.map(() => ({
            slot: context.slot,
            confirmations: 0,
            err: null,
            confirmationStatus: "processed",
          })),
        })) as never,
      }
    : undefined;

test("an attempt that a node still shows which stands still for ten minutes is dead, and not before", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const attempt = await unsent(world);
  const stopped = stoppedAt(world);
  nodes.third.rule = (request) => showsAll(request) ?? stopped(request);
  world.chain.advance(LIFE_OF_BYTES);
  await pass(world, nodes, 5);
  expect(await nodes.ledger.fates([attempt])).not.toEqual(["dead"]);
  await pass(world, nodes, 15);
  expect(await nodes.ledger.fates([attempt])).toEqual(["dead"]);
});

test("an attempt that a node shows which follows the chain is not dead, however long the others say so", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const attempt = await unsent(world);
  nodes.third.rule = showsAll;
  world.chain.advance(LIFE_OF_BYTES);
  await pass(world, nodes, 60);
  expect(await nodes.ledger.fates([attempt])).not.toEqual(["dead"]);
});

/** A marker that alice has made. */
async function marked({ ledger, chain }: ChainFixture, alice: Wallet): Promise<Address> {
  const base = alice.address;
  const plan = { feePayer: base, moves: [{ does: "mark", base, seed: "paid", payer: base }] } as const;
  const { bytes } = await signTransaction(await ledger.buildTransaction(plan), [
    keypairSigner(alice.secretKey),
  ]);
  await ledger.broadcast(bytes);
  chain.advance(40);
  return base;
}

test("a marker that a node does not show which stands still is told once that node has stood still for ten minutes", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  world.chain.advance(40);
  nodes.third.rule = stoppedAt(world);
  const base = await marked(world, alice);
  const told = async () => (await nodes.ledger.markers(base, ["paid"])).markers[0];
  await pass(world, nodes, 5);
  expect(await told()).toBe("disputed");
  // It is behind, and contradicts nobody.
  expect(await subjectsOf(nodes)).toEqual([]);
  await pass(world, nodes, 15);
  expect(await told()).toMatchObject({ delegate: null });
  expect((await nodes.ledger.markers(base, ["paid"])).slot).toBe(world.chain.slot() - 32);
  nodes.third.rule = undefined;
  await pass(world, nodes, 5);
  expect(await told()).toMatchObject({ delegate: null });
});

test("endpoints that differ about a marker in blocks as new are told at once, and nothing is concluded for an hour", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  world.chain.advance(40);
  const base = await marked(world, alice);
  const subject = `the markers of ${base}`;
  nodes.third.rule = ({ method }) =>
    method === "getMultipleAccounts"
      ? {
          kind: "lie",
          answer: (({ context, value: [clock] }: { context: object; value: unknown[] }) => ({
            context,
            value: [clock, null],
          })) as never,
        }
      : undefined;
  const told = async () => (await nodes.ledger.markers(base, ["paid"])).markers[0];
  expect(await told()).toBe("disputed");
  expect(await subjectsOf(nodes)).toEqual([subject]);
  for (let look = 0; look < 12; look++) {
    await pass(world, nodes, 5);
    expect(await told()).toBe("disputed");
  }
  expect(await subjectsOf(nodes)).toEqual([subject]);
  nodes.third.rule = undefined;
  expect(await told()).toMatchObject({ delegate: null });
  expect(await subjectsOf(nodes)).toEqual([]);
});

test("where all endpoints stand still none is left out: the chain may stand still", async ({ world }) => {
  const nodes = threeNodes(world);
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  world.chain.advance(40);
  nodes.third.rule = stoppedAt(world);
  const base = await marked(world, alice);
  for (let passed = 0; passed < 30; passed += 5) {
    world.clock.advance(5 * MINUTE);
    await nodes.ledger.heights("finalized");
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await nodes.ledger.markers(base, ["paid"])).markers).toEqual(["disputed"]);
});

test("where fewer endpoints follow the chain than must agree none is left out: one word is too few", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const alice = world.wallet("alice", { lamports: 1_000_000_000n });
  world.chain.advance(40);
  nodes.second.rule = stoppedAt(world);
  nodes.third.rule = stoppedAt(world);
  const base = await marked(world, alice);
  await pass(world, nodes, 30);
  expect((await nodes.ledger.markers(base, ["paid"])).markers).toEqual(["disputed"]);
});
