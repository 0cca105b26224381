/** Words of operators that cover more than came, or could have: no later money of a refused payer hides in them. */
import { expect } from "vitest";
import type { Address } from "../../../src/address.ts";
import type { ScreenAddress } from "../../../src/payments/recipients/recipients.ts";
import { BY } from "../../kit/by.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { lyingNode, type LyingNode } from "../private/lying-nodes.ts";
import { sceneTest as test } from "../private/scene-test.ts";
import { MINUTE, SOL, type Ordered, type scene, type Scene } from "../private/scene.ts";
import { dropping } from "../../kit/odd-endpoints.ts";

/** More than a page of a list holds. */
const FLOOD = 110;

/** A world whose host refuses dave. */
async function refusingDave(
  open: (...given: Parameters<typeof scene>) => Promise<Scene>,
  ledgerOn?: Parameters<typeof scene>[2],
): Promise<{ readonly world: Scene; readonly dave: Wallet; readonly order: Ordered }> {
  const refused = new Set<string>();
  const screen: ScreenAddress = async (address) => (refused.has(address) ? "refused" : "ok");
  const world = await open({}, { screen }, ledgerOn);
  const dave = world.wallet("dave", { lamports: 5n * SOL, usdc: 90_000_000n });
  refused.add(dave.address);
  return { world, dave, order: await world.sendTo() };
}

async function payIn(world: Scene, from: Wallet, { address }: Ordered, amount: bigint): Promise<void> {
  await world.openAccount({ ...from, address: address as Address }, "USDC");
  await world.payTokens(from, address, "USDC", amount);
}

const heldFor = async ({ storage }: Scene, { address }: Ordered): Promise<string | null | undefined> =>
  (await storage.deposits([address]))[0]?.heldReason;

test.for(["", "of an earlier version "])(
  "M22: later money of a refused payer is held though a word %scovers more than ever came, and more than a page of dust came after it",
  async (version, { open }) => {
    const { world, dave, order } = await refusingDave(open);
    await payIn(world, dave, order, order.due);
    await world.passAndSettle(10 * MINUTE, 4);
    await world.service.operator.releaseDeposit(order.id, BY);
    await world.settle(12);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    await world.service.stop();
    const [word] = await world.storage.vouchings(order.address);
    const came = { [world.mints.USDC]: "50000000" };
    const slot = version === "" ? (word?.slot ?? null) : null;
    await world.storage.commit([
      { writes: [{ table: "vouchings", id: word?.id ?? "", set: { came, slot } }] },
    ]);
    await payIn(world, dave, order, 4_000_000n);
    for (let dust = 0; dust < FLOOD; dust++) {
      await world.payTokens(dave, order.address, "USDC", 1n + BigInt(dust % 3));
    }
    await world.service.start();
    await world.passAndSettle(11 * MINUTE, 6);
    expect(await heldFor(world, order)).toBe("screening");
    expect((await world.shown(order)).refunds ?? []).toEqual([]);
  },
);

test("M22: while a payment that collects deposits may still land nothing is vouched for, since its money could count twice", async ({
  open,
}) => {
  const { world, order } = await refusingDave(open);
  await world.strayAccount(order.address, "USDC", order.due);
  const lift = world.chain.faults.add(dropping);
  world.chain.advance(40);
  for (let look = 0; look < 8; look++) await world.pass(20_000);
  expect(await world.stateOf(order)).toEqual({ collecting: "moving" });
  await expect(world.service.operator.releaseDeposit(order.id, BY)).rejects.toThrow("is at work");
  lift();
  await world.settle(10);
  const { vouchedFor } = await world.service.operator.releaseDeposit(order.id, BY);
  expect(vouchedFor.amounts).toEqual({ [world.mints.USDC]: String(Number(order.due) / 1e6) });
});

test("M22: while an endpoint is out of service and fewer decide, a word covers no money that was not written down before", async ({
  open,
}) => {
  let nodes: readonly LyingNode[] = [];
  const { world, dave, order } = await refusingDave(open, (chain) => {
    nodes = [lyingNode(chain.chain, "one"), lyingNode(chain.chain, "two")];
    return chain.ledgerOf(nodes.map(({ endpoint }) => endpoint));
  });
  await payIn(world, dave, order, order.due);
  await world.settle(6);
  expect(await heldFor(world, order)).toBe("screening");
  const { operator } = world.service;
  await operator.suspendEndpoint({ endpoint: "one.example", minutes: 5 }, BY);
  const account = world.tokenAccountOf({ ...dave, address: order.address as Address }, "USDC");
  nodes[1]?.tell(({ method, params, truth }) => {
    const index = method === "getMultipleAccounts" ? (params[0] as string[]).indexOf(account) : -1;
    return index < 0 ? undefined : truth().then((told) => richer(told, index));
  });
  await world.pass(6_000);
  const bob = world.wallet("receiver of refunds", { lamports: SOL });
  await operator.resolve(`held:${order.address}`, { action: "refundTo", address: bob.address }, BY);
  const due = { [world.mints.USDC]: String(Number(order.due) / 1e6) };
  expect((await operator.auditLog()).at(-1)?.what).toMatchObject({
    allowed: due,
    vouchedFor: { amounts: due },
  });
});

/** The answer with 50 USDC more in one of its accounts. */
function richer(told: unknown, index: number): unknown {
  const answer = structuredClone(told) as { value: { data: [string, string] }[] };
  const account = answer.value[index];
  if (account === undefined) return answer;
  const data = Buffer.from(account.data[0], "base64");
  data.writeBigUInt64LE(data.readBigUInt64LE(64) + 50_000_000n, 64);
  account.data[0] = data.toString("base64");
  return answer;
}
