/** Endpoints that follow the chain no more: what they tell is old after ten minutes, and contradicts nobody. */
import { fatesOf } from "../kit/fates.ts";
import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { solanaLedger } from "../../src/solana/index.ts";
import { blockClock, signPayment, type ChainFixture } from "../kit/chain-fixture.ts";
import { chainTest as test } from "../kit/chain-test.ts";
import { oddEndpoint, type OddEndpoint, type OddRule } from "../kit/odd-endpoints.ts";

const MINUTE = 60_000;
/** More than the last block that takes signed bytes, and its finality. */
const LIFE_OF_BYTES = 200;

interface ThreeNodes {
  readonly ledger: Ledger;
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
  return { ledger, third };
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
  expect(await fatesOf(nodes.ledger, [attempt])).not.toEqual(["dead"]);
  await pass(world, nodes, 15);
  expect(await fatesOf(nodes.ledger, [attempt])).toEqual(["dead"]);
});

test("an attempt that a node shows which follows the chain is not dead, however long the others say so", async ({
  world,
}) => {
  const nodes = threeNodes(world);
  const attempt = await unsent(world);
  nodes.third.rule = showsAll;
  world.chain.advance(LIFE_OF_BYTES);
  await pass(world, nodes, 60);
  expect(await fatesOf(nodes.ledger, [attempt])).not.toEqual(["dead"]);
});
