/** The ledger contract on death: what may be given up for good, and what never. */
import { fatesOf } from "../../kit/fates.ts";
import assert from "node:assert/strict";
import { promise, type EndpointFault, type LedgerContractCase } from "./contract.ts";
import {
  fateOf,
  finalizeHeight,
  landingOf,
  readyBetweenStrangers,
  settle,
  statusOf,
  UNSEEN,
  wealth,
} from "./payments.ts";

// One that cannot be asked at this moment, or knows too little to say anything.
const OUT_OF_ACTION: readonly EndpointFault[] = ["silent", "refusing", "busy", "losing_answers", "lagging"];

/** Fates: every doubt is `open`, and `dead` is for ever. */
export const fateCases: readonly LedgerContractCase[] = [
  promise(
    "E7: what nobody saw is open until the last block that takes it is finalized, then dead",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      assert.equal(await fateOf(world, attempt), "open");
      // The block after the last valid height still takes it.
      await finalizeHeight(world, attempt.lastValidBlockHeight);
      assert.equal(await fateOf(world, attempt), "open");
      await world.pass(1);
      assert.equal(await fateOf(world, attempt), "dead");
      await world.ledger.broadcast(attempt.bytes).catch(() => undefined);
      await world.pass(world.blocksToFinality);
      assert.equal(await statusOf(world, attempt), null, "the dead do not rise");
      assert.equal(await fateOf(world, attempt), "dead");
    },
  ),
  promise("E7: what lands in the very last block is never dead on the way", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    await world.pass(attempt.lastValidBlockHeight + 1 - world.height());
    await world.ledger.broadcast(attempt.bytes);
    assert.equal((await statusOf(world, attempt))?.error, null);
    for (let block = 0; block < world.blocksToFinality; block += 1) {
      assert.ok(["open", "seen"].includes(await fateOf(world, attempt)));
      await world.pass(1);
    }
    assert.equal(await fateOf(world, attempt), "landed");
  }),
  promise("what is finalized has landed, and still has a thousand blocks later", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    await settle(world, attempt);
    assert.equal(await fateOf(world, attempt), "landed");
    await world.pass(1_000);
    assert.equal(await fateOf(world, attempt), "landed");
  }),
  promise(
    "E9: what vanished on a fork and was not taken again dies as if it had never been there",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      const before = await wealth(world, attempt.payer);
      await world.pass(1);
      await world.ledger.broadcast(attempt.bytes);
      await world.pass(2);
      await world.fork(3);
      await finalizeHeight(world, attempt.lastValidBlockHeight + 1);
      assert.equal(await fateOf(world, attempt), "dead");
      assert.equal(await wealth(world, attempt.payer), before);
    },
  ),
  promise(
    "E10: an endpoint out of action is no witness: nothing is dead before it can be asked again",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      await finalizeHeight(world, attempt.lastValidBlockHeight + 1);
      for (const fault of OUT_OF_ACTION) {
        for (const index of [0, 1] as const) {
          const mend = world.breakEndpoint(index, fault);
          assert.equal(await fateOf(world, attempt), "open", `endpoint ${index} is ${fault}`);
          mend();
          await world.elapse(60_000);
        }
      }
      assert.equal(await fateOf(world, attempt), "dead");
    },
  ),
  promise(
    "E10: the null of an endpoint that has forgotten kills nothing that the other one knows",
    async (world) => {
      for (const index of [0, 1] as const) {
        const attempt = await readyBetweenStrangers(world);
        await settle(world, attempt);
        await finalizeHeight(world, attempt.lastValidBlockHeight + 1);
        const mend = world.breakEndpoint(index, "forgetful");
        assert.equal(await fateOf(world, attempt), "unprovable");
        assert.equal(await landingOf(world, attempt), null);
        mend();
        assert.equal(await fateOf(world, attempt), "landed");
      }
    },
  ),
  promise("when nobody can be asked all is open, which is no error", async (world) => {
    const attempt = await readyBetweenStrangers(world);
    await finalizeHeight(world, attempt.lastValidBlockHeight + 1);
    world.breakEndpoint(0, "silent");
    world.breakEndpoint(1, "refusing");
    assert.equal(await fateOf(world, attempt), "open");
  }),
  promise("fates come in the order asked", async (world) => {
    const landed = await readyBetweenStrangers(world);
    await settle(world, landed);
    await finalizeHeight(world, landed.lastValidBlockHeight + 1);
    const young = await readyBetweenStrangers(world);
    const dead = { ...landed, ...UNSEEN };
    const asked = Array.from({ length: 300 }, (_, index) => [dead, landed, young][index % 3] ?? dead);
    const expected = asked.map((_, index) => ["dead", "landed", "open"][index % 3]);
    assert.deepEqual(await fatesOf(world.ledger, asked), expected);
  }),
];
