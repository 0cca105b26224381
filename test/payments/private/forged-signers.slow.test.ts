/** M32: who signed is told by the signatures themselves, and not by the word of a node. */
// modules: private
import { expect, test } from "vitest";
import { garbles, renamesSigners } from "./lying-nodes.ts";
import { open, owned, served, shown, startOn } from "./restored-world.ts";

const MINUTE = 60_000;

test.each([
  ["the other one tells the truth", false],
  ["the other one is silent for a while", true],
])(
  "M32: one node says that a stranger signed what an address has paid, and %s: a restored order tells its recipient paid, and pays him no more",
  async (_, isSilent) => {
    const world = await open();
    const order = await served(world);
    const paid = await owned(world, world.bob);
    const [one, other] = world.nodes;
    const ends = [other.tell(renamesSigners(world.sponsor.address))];
    if (isSilent) ends.push(one.tell(garbles("getTransaction")));
    world.chain.fund(order.address, { usdc: order.due });
    world.chain.advance(40);
    const restored = await startOn(world, order.copy);
    await restored.pass(MINUTE);
    for (const end of ends) end();
    for (let look = 0; look < 4; look++) await restored.pass(11 * MINUTE);
    expect(await owned(world, world.bob)).toBe(paid);
    expect(await shown(restored, world, order)).toMatchObject({
      status: "completed",
      recipients: [{ status: "paid" }],
    });
    expect(await world.held(order.address)).toEqual([0n, 0n, 0n]);
  },
);
