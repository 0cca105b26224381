/** E5, P11: the process that sends tokens of another mint on is killed around each of its calls; they arrive once. */
// modules: private
import { test } from "vitest";
import type { Operator } from "../../../src/service/open-operator.ts";
import { BY } from "../../kit/by.ts";
import type { Death } from "../../kit/mortal.ts";
import { byDepth, EXPLORING_MS } from "../../kit/thorough.ts";
import { carriedOut, expectWholeAtEveryDeath, unlessHeard, type Lived } from "./dying-operators.ts";
import { foreignMint, type ForeignMint } from "./foreign-mint.ts";
import { scene, type Ordered, type Scene } from "./scene.ts";

const DENSITY = {
  other: byDepth({ quick: 843, ci: 21, long: 3 }),
  change: byDepth({ quick: 13, ci: 1, long: 1 }),
};

async function live(death?: Death): Promise<Lived> {
  const world = await scene();
  try {
    const order = await world.sendTo();
    const foreign = await foreignMint(world, "token");
    await foreign.give(order.address, 7n);
    await world.service.cancelTransaction(world.customer, order.id);
    await world.settle(2);
    await world.service.stop();
    const say = (operator: Operator): Promise<void> => unlessHeard(twoWords(operator, order, foreign));
    const calls = await carriedOut(world, { order, say }, death);
    return { calls, broken: await brokenIn(world, { order, foreign }) };
  } finally {
    await world.close();
  }
}

async function twoWords(operator: Operator, { id }: Ordered, { mint }: ForeignMint): Promise<void> {
  const { address } = await operator.resolve(id, { action: "foreign", mint }, BY);
  if (address !== undefined) await operator.approve(id, { address }, { ...BY, actor: "bea" });
}

interface Given {
  readonly order: Ordered;
  readonly foreign: ForeignMint;
}

async function brokenIn(world: Scene, { order, foreign }: Given): Promise<readonly string[]> {
  const broken: string[] = [];
  const arrived = await foreign.heldBy(world.alice.address);
  if (arrived !== 7n) broken.push(`alice has ${arrived}`);
  const left = [await foreign.heldBy(order.address), ...(await world.held(order.address))];
  if (left.some((each) => each !== 0n)) broken.push(`the address holds ${left.join()}`);
  const acts = (await world.service.operator.auditLog()).map(({ act: name }) => name);
  if (acts.at(-1) !== "foreign" || acts.filter((name) => name === "foreign").length !== 1) {
    broken.push(`in the audit log: ${acts.join()}`);
  }
  return broken;
}

test("E5, P11: foreign tokens arrive once, wherever the process dies", { timeout: EXPLORING_MS }, () =>
  expectWholeAtEveryDeath(live, DENSITY),
);
