/** Transfers that cannot be concluded, because endpoints differ about their attempts. */
// modules: private
import { expect, test as vitestTest } from "vitest";
import { EndpointsDifferError } from "../../../src/ledger/ledger.ts";
import { transferWorld } from "./transfer-world.ts";

const TWO_MINUTES_MS = 2 * 60_000;

const test = vitestTest.extend("world", async ({}, { onCleanup }) => {
  const deposited = { usdc: 5_000_000n };
  const world = await transferWorld({
    mint: "USDC",
    shares: [4_900_000n],
    cut: [1],
    fee: 100_000n,
    deposited,
  });
  onCleanup(() => world.stop());
  return world;
});

test("K14, K17: for as long as endpoints differ about an attempt its transfer reads as often as at first and not more, and it goes on when they agree", async ({
  world,
}) => {
  const { ledger, sendOut, pass, wait, stateOf, storage } = world;
  const { landings } = ledger;
  let readings = 0;
  const differing: typeof landings = async () => {
    readings += 1;
    throw new EndpointsDifferError("what became of an attempt", ["one", "two"]);
  };
  Object.assign(ledger, { landings: differing });
  const id = await sendOut({ kind: "chunk", n: 0 });
  await pass(60);
  expect(await stateOf(id)).toEqual({ out: "concluding" });
  const readingsIn: number[] = [];
  for (let part = 0; part < 4; part += 1) {
    const before = readings;
    await wait(TWO_MINUTES_MS);
    readingsIn.push(readings - before);
  }
  const [first = 0] = readingsIn;
  expect(first).toBeGreaterThan(0);
  expect(Math.max(...readingsIn)).toBeLessThanOrEqual(first + 5);
  expect((await storage.tasks({ order: "instance", instance: id, limit: 100 })).length).toBeLessThan(5);
  Object.assign(ledger, { landings });
  await pass(30);
  expect(await stateOf(id)).toBe("done");
});
