/** The ledger contract on fewer witnesses than configured: what they are enough for, and what never. */
import assert from "node:assert/strict";
import { promise, type LedgerContractCase } from "./contract.ts";
import { finalizeHeight, readyBetweenStrangers, settle, fateOf } from "./payments.ts";

/** Two endpoints are configured; each case asks with one as enough. */
export const fewerWitnessesCases: readonly LedgerContractCase[] = [
  promise(
    "with one witness enough a landing, money and heights are read from the endpoint that is left, and death is not",
    async (world) => {
      const attempt = await readyBetweenStrangers(world);
      await settle(world, attempt);
      const lost = await readyBetweenStrangers(world);
      await finalizeHeight(world, lost.lastValidBlockHeight + 1);
      const one = await world.ledger.restricted({ witnesses: 1, without: [] });
      for (const index of [0, 1] as const) {
        const mend = world.breakEndpoint(index, "refusing");
        const [landing] = await world.wait(one.landings([attempt]));
        assert.equal(landing?.signature, attempt.signature);
        const { funds } = await world.wait(one.funds([attempt.payer], [], "finalized"));
        assert((funds[0]?.lamports ?? 0n) > 0n);
        const { agreed, highest } = await world.wait(one.heights("finalized"));
        assert.equal(agreed, highest);
        assert.deepEqual(await world.wait(one.witnesses()), { needed: 1, answering: 1 });
        await assert.rejects(world.wait(world.ledger.heights("finalized")), { name: "LedgerUnavailable" });
        assert.equal(await fateOf(world, lost), "open");
        mend();
        await world.elapse(60_000);
      }
      assert.equal(await fateOf(world, lost), "dead");
    },
  ),
  promise("never more witnesses than are configured, and a number from 1", async (world) => {
    const many = await world.ledger.restricted({ witnesses: 9, without: [] });
    assert.deepEqual(await world.wait(many.witnesses()), await world.wait(world.ledger.witnesses()));
    for (const wrong of [0, -1, 1.5, Number.NaN]) {
      await assert.rejects(world.ledger.restricted({ witnesses: wrong, without: [] }), {
        name: "RangeError",
      });
    }
  }),
];
