/** Two DELETEs of one transaction: one cancels it, the other is refused as after it, wherever the two meet. */
// modules: private
import { expect } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { CancelledTransactionBody } from "../../../src/payments/frame/transactions/cancel-transaction.ts";
import { meetAtEveryCommit, type Ending, type Through } from "../../kit/meet-at-every-commit.ts";
import { EXPLORING_MS } from "../../kit/thorough.ts";
import { MINUTE, type Scene } from "../private/scene.ts";
import type { Mode } from "../../kit/modes.ts";
import { sceneTest as test } from "../private/scene-test.ts";

/** The longest that the service takes. */
const DELAY_MS = 20_000;

/** A transaction that can still be cancelled. */
interface Cancellable {
  readonly id: string;
  readonly customer: Caller;
  readonly at: number;
}

async function taken(world: Scene, customer: Caller, mode: Mode): Promise<string> {
  if (mode === "wallet") {
    const words = { from: world.alice, to: world.bob.address, amount: "1" };
    return (await world.send(customer, words)).transactionId;
  }
  const to = [{ address: world.bob.address, amount: "5" }];
  return (await world.order(customer, { sender: world.alice, to })).body.transactionId;
}

async function cancelling(
  world: Scene,
  { id, customer }: Cancellable,
  through: Through,
): Promise<CancelledTransactionBody> {
  const service = world.another({ storage: through(world.storage), ledger: world.ledger });
  return service.cancelTransaction(customer, id);
}

async function expectOneGranted(
  world: Scene,
  { id, at, customer }: Cancellable,
  ...endings: readonly Ending<CancelledTransactionBody>[]
): Promise<void> {
  const cancelledAt = new Date(at).toISOString();
  const granted = endings.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  expect(granted).toEqual([{ transactionId: id, status: "cancelled", cancelledAt }]);
  const refused = endings.flatMap((each) => (each.status === "rejected" ? [each.reason as unknown] : []));
  expect(refused).toMatchObject([
    {
      code: "CANNOT_CANCEL",
      details: { transactionId: id, currentStatus: "cancelled", allowedStatuses: ["pending"] },
    },
  ]);
  expect(await world.service.transaction(customer, id)).toMatchObject({ status: "cancelled", cancelledAt });
}

test.for(["wallet", "private"] as const)(
  "W14: of two DELETEs of one transaction in %s mode, at the same time or before the answer of the first, one cancels and the other is CANNOT_CANCEL",
  { timeout: EXPLORING_MS },
  async (mode, { open }) => {
    const world = await open({ broadcastDelayMs: DELAY_MS });
    world.chain.fund(world.alice.address, { usdc: 1_000_000_000n });
    world.chain.advance(35);
    const customer = await world.caller("enterprise");
    const ids: string[] = [];
    const met = await meetAtEveryCommit({
      async arrange() {
        const id = await taken(world, customer, mode);
        ids.push(id);
        // A commit that tells the time of another DELETE would be seen.
        world.clock.advance(100);
        return { id, customer, at: world.clock.now() };
      },
      one: (arranged, through) => cancelling(world, arranged, through),
      other: (arranged, through) => cancelling(world, arranged, through),
      judge: (arranged, ...endings) => expectOneGranted(world, arranged, ...endings),
    });
    expect(met).toBeGreaterThanOrEqual(4);
    const before = await world.held(world.bob.address);
    await world.passAndSettle(MINUTE, 4);
    for (const id of ids) {
      expect((await world.storage.transaction(id))?.transaction.status).toBe("cancelled");
    }
    expect(await world.held(world.bob.address)).toEqual(before);
    await world.judge();
  },
);
