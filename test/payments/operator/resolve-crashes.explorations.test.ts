/** E5, M10, M35: the process in which operators send held money elsewhere is killed around each of its calls; it goes there once. */
import { describe, test } from "vitest";
import type { Operator } from "../../../src/payments/operator/operator.ts";
import type { ScreenAddress } from "../../../src/payments/recipients/recipients.ts";
import { adapters, type Adapter } from "../../kit/adapters.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import type { Death } from "../../kit/mortal.ts";
import { byDepth, drawn, EXPLORING_MS } from "../../kit/thorough.ts";
import { carriedOut, expectWholeAtEveryDeath, unlessHeard, type Lived } from "../private/dying-operators.ts";
import { MINUTE, sceneOn, SOL, type Ordered, type Scene } from "../private/scene.ts";

const BEA = { actor: "bea", reason: "checked with the bank" };
const DENSITY = {
  other: byDepth({ quick: 401, ci: 41, long: 3 }),
  change: byDepth({ quick: 7, ci: 1, long: 1 }),
};

/** A cancelled order to which money came from carol, who is refused, and the wallet that shall get it. */
interface Given {
  readonly order: Ordered;
  readonly dave: Wallet;
  readonly approvals: 1 | 2;
}

async function live(adapter: Adapter, approvals: 1 | 2, death?: Death): Promise<Lived> {
  const refused = new Set<string>();
  const screen: ScreenAddress = async (address) => (refused.has(address) ? "refused" : "ok");
  const world = await sceneOn(adapter, {}, { screen });
  try {
    const carol = world.wallet("carol", { lamports: 2n * SOL, usdc: 90_000_000n });
    refused.add(carol.address);
    const order = await world.sendTo();
    await world.service.cancelTransaction(world.customer, order.id);
    await world.openAccount({ ...carol, address: order.address as never }, "USDC");
    await world.payTokens(carol, order.address, "USDC", order.due);
    await world.passAndSettle(6 * MINUTE, 4);
    await world.service.stop();
    const given = { order, approvals, dave: world.wallet("dave", { lamports: SOL }) };
    const say = (operator: Operator): Promise<void> => sendElsewhere(operator, given);
    const calls = await carriedOut(world, { order, say, options: { approvals }, routing: { screen } }, death);
    return { calls, broken: await brokenIn(world, given) };
  } finally {
    await world.close();
  }
}

async function sendElsewhere(operator: Operator, { order, dave, approvals }: Given): Promise<void> {
  const id = `held:${order.address}`;
  const { address } = dave;
  await unlessHeard(operator.resolve(id, { action: "refundTo", address }, BY));
  if (approvals === 2) await unlessHeard(operator.approve(id, { address }, BEA));
}

async function brokenIn(world: Scene, { order, dave, approvals }: Given): Promise<readonly string[]> {
  const broken: string[] = [];
  const usdcOf = async (address: string): Promise<bigint> => (await world.held(address))[1];
  const arrived = await usdcOf(dave.address);
  // What the refund has cost stays, some cents.
  if (arrived > order.due || arrived < order.due - 1_000_000n) broken.push(`dave has ${arrived}`);
  const others = [await usdcOf(world.alice.address), await usdcOf(world.bob.address)];
  if (others.join() !== "1,0") broken.push(`alice and bob have ${others.join()}`);
  const left = await world.held(order.address);
  if (left.some((each) => each !== 0n)) broken.push(`the address holds ${left.join()}`);
  const lines = await world.storage.entries(order.address);
  const refunds = lines.filter(({ kind }) => kind === "refund").map(({ amount }) => amount);
  if (refunds.join() !== String(arrived)) broken.push(`refunds on record: ${refunds.join()}`);
  const words = await world.storage.vouchings(order.address);
  if (words.length !== 1) broken.push(`${words.length} words of operators`);
  const acts = (await world.service.operator.auditLog()).map(({ act: name }) => name);
  const asked = acts.filter((name) => name === "request_refund_to").length;
  const done = acts.filter((name) => name === "refund_to").length;
  if (done !== 1 || asked > 2 || asked < approvals - 1) broken.push(`in the audit log: ${acts.join()}`);
  return broken;
}

describe.each(drawn(adapters, "crashes of resolve"))("on $name", (adapter) => {
  test.each(drawn([1, 2] as const, `approvals on ${adapter.name}`))(
    "E5, M10, M35: money that %s of operators send elsewhere goes there once, wherever the process dies",
    { timeout: EXPLORING_MS },
    (approvals) => expectWholeAtEveryDeath((death) => live(adapter, approvals, death), DENSITY),
  );
});
