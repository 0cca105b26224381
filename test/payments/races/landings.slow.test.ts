/** A payroll whose address hears of its landings late, and in another order than they landed in: it is settled after all of them. */
import { expect } from "vitest";
import type { ClaimedTask } from "../../../storage/storage.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import { messageFromText } from "../../../src/workflow/messages.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { units } from "../../kit/private-fixture.ts";
import { memoryStorage } from "../../kit/storages.ts";
import { MINUTE, orderedAs, SOL, type Ordered, type scene, type Scene } from "../private/scene.ts";
import { sceneTest as test } from "../private/scene-test.ts";

const LANDED = "PAYMENT_LANDED";

/** Holds back what tells an address that a payment has landed. */
class LateLandings {
  /** By task: the slot that it tells. */
  readonly held = new Map<string, number>();
  readonly #released = new Set<string>();

  /** Lets the one through that tells the newest slot, and answers that slot. */
  releaseNewest(): number {
    const [newest] = [...this.held].toSorted(([, one], [, other]) => other - one);
    if (newest === undefined) throw new Error("nothing is held back");
    const [id, slot] = newest;
    this.held.delete(id);
    this.#released.add(id);
    return slot;
  }

  within(storage: PaymentStorage, now: () => number): PaymentStorage {
    const giveBack = ({ id, token }: ClaimedTask): Promise<boolean> =>
      storage.release({ id, token, dueAt: now() + 1_000 });
    return {
      ...storage,
      // What is armed in the hands of its holder would pass unseen: it waits like everything else, and its holder is told so.
      // Payments are told of in any order, so these come in any order too, and nothing waits behind them.
      commit: async (items) => {
        const given = items.map((item) => {
          const arms = item.arms?.map((arm) =>
            arm.task.name === LANDED ? { task: { ...arm.task, limits: [] } } : arm,
          );
          return arms === undefined ? item : { ...item, arms };
        });
        const answers = await storage.commit(given);
        return answers.map((answer, index) => {
          const late = (items[index]?.arms ?? []).filter(({ task }) => task.name === LANDED);
          if (!answer.ok || late.length === 0) return answer;
          return { ...answer, parked: [...(answer.parked ?? []), ...late.map(({ task }) => task.id)] };
        });
      },
      claim: async (request) => {
        const claimed = await storage.claim(request);
        const late = claimed.filter(({ id, name }) => name === LANDED && !this.#released.has(id));
        for (const { id, payload } of late) this.held.set(id, slotIn(payload));
        await Promise.all(late.map(giveBack));
        return claimed.filter((task) => !late.includes(task));
      },
    };
  }
}

function slotIn(payload: string): number {
  const { slot } = messageFromText(payload).event as unknown as { readonly slot: number };
  return slot;
}

interface OrderedLate {
  readonly world: Scene;
  readonly order: Ordered;
  readonly payees: readonly Wallet[];
}

/** A payroll of three payouts at an address that hears of its landings late. Too much is paid in for it. */
async function orderedLate(open: typeof scene, late: LateLandings): Promise<OrderedLate> {
  let now = (): number => 0;
  const world = await open({ storage: late.within(memoryStorage(), () => now()) });
  now = () => world.clock.now();
  const payees = Array.from({ length: 14 }, (_, index) => world.wallet(`payee ${index}`, { lamports: SOL }));
  const { body } = await world.order(world.customer, {
    sender: world.alice,
    to: payees.map(({ address }) => ({ address, amount: "2" })),
  });
  return { world, order: orderedAs(body), payees };
}

const EXCESS = 3_000_000n;

/** The address's own payments. */
async function ownOf(world: Scene, { id }: Ordered): Promise<readonly string[]> {
  const { payments = [] } = (await world.storage.transaction(id)) ?? {};
  return payments.map(({ kind }) => kind).filter((kind) => kind === "refund" || kind === "sweep");
}

/** Lets only so many transactions reach the chain, in the order in which they are first sent. */
class Gate {
  #open = 0;
  readonly #passed = new Set<unknown>();

  constructor({ chain }: Scene) {
    chain.faults.add(({ method, params }) => {
      if (method !== "sendTransaction" || this.#passed.has(params[0])) return undefined;
      if (this.#passed.size >= this.#open) return { kind: "drop" };
      this.#passed.add(params[0]);
      return undefined;
    });
  }

  letOneMore(): void {
    this.#open += 1;
  }
}

test("while an address has not heard of its payroll's landings, nothing is refunded or swept, though too much came in", async ({
  open,
}) => {
  const late = new LateLandings();
  const { world, order } = await orderedLate(open, late);
  await world.deposit(order.address, { usdc: order.due + EXCESS });
  for (let round = 0; round < 6; round++) await world.passAndSettle(20_000, 2);
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  expect(late.held.size).toBeGreaterThanOrEqual(3);
  expect(await ownOf(world, order)).toEqual([]);
}, 120_000);

test("E12: an address that hears of its payroll's landings in reverse order of their slots settles after the last one, and its sums are right", async ({
  open,
}) => {
  const late = new LateLandings();
  const { world, order, payees } = await orderedLate(open, late);
  const gate = new Gate(world);
  world.chain.fund(order.address, { usdc: order.due + EXCESS });
  // The plan and its payouts, each final before the next one is let through.
  for (let landing = 0; landing < 4; landing++) {
    gate.letOneMore();
    await world.passAndSettle(20_000, 3);
  }
  expect(await world.shown(order)).toMatchObject({ status: "completed" });
  const slots: number[] = [];
  while (late.held.size > 0) {
    expect(await ownOf(world, order)).toEqual([]);
    slots.push(late.releaseNewest());
    await world.passAndSettle(20_000, 1);
  }
  expect(slots).toEqual(slots.toSorted((one, other) => other - one));
  expect(new Set(slots).size).toBe(4);
  gate.letOneMore();
  // Planning was refused again and again meanwhile, after growing pauses.
  await world.passAndSettle(15 * MINUTE, 4);
  expect(await ownOf(world, order)).toEqual(["refund"]);
  late.releaseNewest();
  await world.passAndSettle(MINUTE, 4);
  for (const { address } of payees) expect((await world.held(address))[1]).toBe(2_000_000n);
  const refunded = (await world.held(world.alice.address))[1] - 1n;
  const { refunds } = await world.shown(order);
  expect(refunds).toMatchObject([{ status: "paid" }]);
  expect(refunded).toBe(units(refunds[0]?.amount ?? "", 6));
  await world.judge();
}, 120_000);
