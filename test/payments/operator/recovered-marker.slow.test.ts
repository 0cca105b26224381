/** M15: a recovered address that has paid gets money again, while the marker of what it has paid still stands or is swept. */
import { expect, onTestFinished, test } from "vitest";
import type { RecoveryEntry } from "../../../src/payments/operator/recovery/journal.ts";
import { BY } from "../../kit/by.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { MINUTE, scene, SOL } from "../private/scene.ts";

test.each([
  ["stands", false],
  ["was swept", true],
])(
  "M15: the money of a recovered address whose marker %s goes where an operator says, and its recipient keeps what it has",
  async (_, isSwept) => {
    const entries: RecoveryEntry[] = [];
    const world = await scene({ recovery: async (entry) => void entries.push(entry) });
    onTestFinished(() => world.close());
    const order = await world.sendTo();
    await world.deposit(order.address, { usdc: order.due });
    await world.settle(10);
    expect(await world.shown(order)).toMatchObject({ status: "completed" });
    if (isSwept) await world.sweep();
    await world.service.stop();
    const [, paid] = await world.held(world.bob.address);
    world.chain.fund(order.address, { usdc: 9_000_000n });
    world.chain.advance(35);

    const storage = memoryStorage();
    const service = world.another({ storage });
    onTestFinished(() => service.stop());
    await service.operator.recover(entries, BY);
    await service.start();
    const safe = world.wallet("safe", { lamports: SOL });
    const [matter] = await service.operator.attention();
    const command = { action: "refundTo", address: safe.address } as const;
    expect(await service.operator.resolve(matter?.id ?? "", command, BY)).toMatchObject({ state: "done" });
    for (const minutes of [1, 11, 11, 16]) {
      for (let round = 0; round < 6; round++) {
        await service.settled();
        world.chain.advance(35);
        await service.settled();
      }
      world.chain.advance(200);
      world.clock.advance(minutes * MINUTE);
    }
    expect((await storage.deposits([order.address]))[0]?.heldReason).toBeNull();
    expect((await world.held(safe.address))[1]).toBeGreaterThan(8_000_000n);
    expect((await world.held(world.bob.address))[1]).toBe(paid);
  },
);
