/** A payroll whose address has not heard of its landings yet: nothing is settled before. */
import { afterEach, expect, test } from "vitest";
import type { ClaimedTask } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { orderedAs, scene, SOL } from "../private/scene.ts";
import type { Scene } from "../private/scene.ts";

let world: Scene;
afterEach(() => world.close());

const LANDED = "PAYMENT_LANDED";

/** Holds back what tells an address that a payment has landed. */
class LateLandings {
  readonly held = new Set<string>();

  within(storage: PaymentStorage, now: () => number): PaymentStorage {
    const giveBack = ({ id, token }: ClaimedTask): Promise<boolean> =>
      storage.release({ id, token, dueAt: now() + 1_000 });
    return {
      ...storage,
      // What is armed in the hands of its holder would pass unseen: it waits like everything else.
      commit: (items) =>
        storage.commit(
          items.map((item) => {
            const arms = item.arms?.map((arm) => (arm.task.name === LANDED ? { task: arm.task } : arm));
            return arms === undefined ? item : { ...item, arms };
          }),
        ),
      claim: async (request) => {
        const claimed = await storage.claim(request);
        const late = claimed.filter(({ name }) => name === LANDED);
        for (const { id } of late) this.held.add(id);
        await Promise.all(late.map(giveBack));
        return claimed.filter((task) => !late.includes(task));
      },
    };
  }
}

test("while an address has not heard of its payroll's landings, nothing is refunded or swept, though too much came in", async () => {
  const late = new LateLandings();
  let now = (): number => 0;
  world = await scene({ storage: late.within(memoryStorage(), () => now()) });
  now = () => world.clock.now();
  const payees = Array.from({ length: 14 }, (_, index) => world.wallet(`payee ${index}`, { lamports: SOL }));
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "2" })),
  });
  const order = orderedAs(body);
  await world.deposit(order.address, { usdc: order.due + 3_000_000n });
  for (let round = 0; round < 6; round++) await world.passAndSettle(20_000, 2);
  const own = async (): Promise<readonly string[]> =>
    ((await world.storage.transaction(order.id))?.payments ?? [])
      .map(({ kind }) => kind)
      .filter((kind) => kind === "refund" || kind === "sweep");
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(late.held.size).toBeGreaterThanOrEqual(3);
  expect(await own()).toEqual([]);
}, 120_000);
