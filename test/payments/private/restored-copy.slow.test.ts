/** E17: a database restored from an old copy, whatever it has forgotten, pays nobody a second time and tells no lies. */
import { afterEach, describe, expect, test } from "vitest";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { OperatorRefused } from "../../../src/payments/operator/act.ts";
import type { PaymentStorage } from "../../../src/payments/payment-storage.ts";
import type { Caller } from "../../../src/payments/accounts/caller.ts";
import type { Wallet } from "../../kit/chain-fixture.ts";
import { passTime } from "../../kit/pass-time.ts";
import { privateFixture, units, type PrivateFixture } from "../../kit/private-fixture.ts";
import { byDepth, sampled } from "../../kit/thorough.ts";
import { BY } from "../../kit/by.ts";
import { copyWith, isPlanned, keepCopies, restore } from "./kept-copies.ts";

let world: PrivateFixture;
afterEach(() => world.close());

const MINUTE = 60_000;
/** Longer than any lease that was copied along. */
const LEASE_OVER = 20_000;

/** All of a send's in the long run; of longer stories so many, evenly spread. */
const MAX_COPIES = byDepth({ quick: 2, ci: 4, long: 20 });

function atMost<T>(most: number, all: readonly T[]): readonly T[] {
  const step = Math.max(1, all.length / most);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

/** An order that a service has served to its end, and the copies of its database from the order on. */
interface Served {
  readonly caller: Caller;
  readonly transactionId: string;
  readonly address: string;
  readonly due: bigint;
  readonly copies: readonly Uint8Array[];
  readonly recipients: readonly Wallet[];
  readonly ended: { readonly status: string; readonly reason: string | null };
  /** Everybody who could have been paid. */
  readonly everybody: readonly string[];
}

interface Scenario {
  readonly name: string;
  readonly payees: number;
  /** What is deposited, of what is due. */
  readonly deposits: (due: bigint) => bigint;
  readonly afterwards: (served: PrivateFixture) => Promise<void>;
}

const SEND: Scenario = {
  name: "a send",
  payees: 1,
  deposits: (due) => due,
  afterwards: () => world.settle(),
};

const SCENARIOS: readonly Scenario[] = [
  SEND,
  {
    name: "a payroll of two payouts and a refund",
    payees: 8,
    deposits: (due) => due + 4_000_000n,
    afterwards: () => world.settle(10),
  },
  {
    name: "a refund of too little",
    payees: 1,
    deposits: (due) => due - 1_000_000n,
    afterwards: async () => {
      await world.pass(31 * MINUTE);
      await world.settle(8);
    },
  },
];

async function serve({ payees, deposits, afterwards }: Scenario): Promise<Served> {
  const { storage, copies } = await keepCopies();
  world = await privateFixture({ storage });
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
  const recipients = Array.from({ length: payees }, (_, index) =>
    world.wallet(`payee ${index}`, { lamports: 1_000_000_000n, usdc: 1n }),
  );
  const { body } = await world.order(caller, {
    sender: alice,
    to: recipients.map(({ address }) => ({ address, amount: "3" })),
  });
  const ordered = copies.length - 1;
  const due = units(body.depositAmount, 6);
  await world.deposit(body.ephemeralAddress, { usdc: deposits(due) });
  await afterwards(world);
  const { status, reason } = await world.service.transaction(caller, body.transactionId);
  await world.sweep();
  expect(await world.held(body.ephemeralAddress)).toEqual([0n, 0n, 0n]);
  await world.service.stop();
  return {
    caller,
    due,
    recipients,
    ended: { status, reason },
    transactionId: body.transactionId,
    address: body.ephemeralAddress,
    // The order is in the first of them, and nothing that came of it.
    copies: atMost(MAX_COPIES, copies.slice(ordered)),
    everybody: [alice, ...recipients, world.treasury].map(({ address }) => address),
  };
}

/** A service at work on a copy, as long as it takes to find out everything. */
interface Restored {
  readonly service: PaymentService;
  readonly storage: PaymentStorage;
  readonly isHeld: () => Promise<boolean>;
  readonly pass: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function goOnWith(
  copy: Uint8Array,
  { address, transactionId }: Pick<Served, "address" | "transactionId">,
  forgetting: Parameters<typeof restore>[1] = "nothing",
): Promise<Restored | null> {
  const storage = await restore(copy, forgetting);
  if ((await storage.transaction(transactionId)) === null) return null;
  const service = world.another({ storage });
  await service.start();
  const pass = async (ms: number): Promise<void> => {
    const engine = { clock: world.clock, engine: service, storage, workflows: service.workflows };
    await passTime(engine, world.clock.now() + ms);
    for (let round = 0; round < 3; round++) {
      world.chain.advance(35);
      await service.settled();
    }
  };
  await pass(LEASE_OVER);
  return {
    service,
    storage,
    pass,
    isHeld: async () => (await storage.deposits([address]))[0]?.heldReason === "unknown_spending",
    close: async () => {
      await service.stop();
      await storage.close();
    },
  };
}

/** One after the other, since they share one chain. */
async function eachCopy(
  served: Served,
  forgetting: Parameters<typeof restore>[1],
  look: (restored: Restored) => Promise<void>,
): Promise<void> {
  for (const copy of served.copies) {
    const restored = await goOnWith(copy, served, forgetting);
    if (restored === null) continue;
    await look(restored);
    await restored.close();
  }
}

const fundsOf = (addresses: readonly string[]) =>
  Promise.all(addresses.map((address) => world.held(address)));

describe.each(sampled(SCENARIOS, "restored copies"))("$name", (scenario) => {
  test.each(["nothing", "attempts"] as const)(
    "E17: restored from a copy of any moment, and having lost %s besides, it moves nothing and ends as it had ended, or is frozen",
    { timeout: 120_000 },
    async (forgetting) => {
      const served = await serve(scenario);
      const funds = await fundsOf(served.everybody);
      let frozen = 0;
      await eachCopy(served, forgetting, async ({ service, isHeld, pass }) => {
        await pass(31 * MINUTE);
        const { status, reason } = await service.transaction(served.caller, served.transactionId);
        const isOver = ["completed", "failed", "cancelled"].includes(status);
        const isFrozen = await isHeld();
        const tells = isOver ? { status, reason } : { isFrozen };
        expect([served.ended, { isFrozen: true }]).toContainEqual(tells);
        if (isFrozen) frozen += 1;
        expect(await fundsOf(served.everybody)).toEqual(funds);
      });
      expect(frozen).toBeGreaterThan(0);
    },
  );

  test(
    "E17: money that comes to the old address later pays no recipient again, not even after a release",
    { timeout: 120_000 },
    async () => {
      const served = await serve(scenario);
      const paid = await fundsOf(served.recipients.map(({ address }) => address));
      const outcomes: unknown[] = [];
      await eachCopy(served, "nothing", async ({ service, isHeld, pass }) => {
        world.chain.fund(served.address, { usdc: served.due });
        await pass(MINUTE);
        await pass(31 * MINUTE);
        if (await isHeld()) {
          const release = service.operator.releaseDeposit(served.transactionId, BY);
          outcomes.push(
            await release.then(
              () => "released",
              (error: unknown) => (error instanceof OperatorRefused ? "refused" : error),
            ),
          );
          await pass(31 * MINUTE);
        }
        expect(await fundsOf(served.recipients.map(({ address }) => address))).toEqual(paid);
      });
      expect(new Set(outcomes)).toEqual(new Set(["released", "refused"]));
    },
  );
});

test(
  "E17: a refund that another self of the database has made is given up on the operator's word, and later money goes back",
  { timeout: 120_000 },
  async () => {
    const { storage, copies } = await keepCopies();
    world = await privateFixture({ storage });
    const caller = await world.caller();
    const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 1n });
    const bob = world.wallet("bob", { lamports: 1_000_000_000n, usdc: 1n });
    const { body } = await world.order(caller, {
      sender: alice,
      to: [{ address: bob.address, amount: "3" }],
    });
    const { transactionId, ephemeralAddress: address } = body;
    await world.deposit(address, { usdc: units(body.depositAmount, 6) + 4_000_000n });
    await world.settle(8);
    const [, ofAlice] = await world.held(alice.address);
    expect(ofAlice).toBeGreaterThan(3_000_000n);
    await world.service.stop();

    const restored = await goOnWith(copyWith(copies, transactionId, isPlanned("refund")), {
      address,
      transactionId,
    });
    world.chain.fund(address, { usdc: 2_000_000n });
    await restored?.pass(MINUTE);
    expect(await restored?.isHeld()).toBe(true);
    await restored?.service.operator.releaseDeposit(transactionId, BY);
    for (let round = 0; round < 12; round++) await restored?.pass(31 * MINUTE);
    expect(await restored?.isHeld()).toBe(false);
    const [, atLast] = await world.held(alice.address);
    expect(atLast).toBeGreaterThan(ofAlice + 1_000_000n);
    expect(atLast).toBeLessThanOrEqual(ofAlice + 2_000_000n);
    expect((await world.held(bob.address))[1]).toBe(3_000_001n);
    expect(await world.held(address)).toEqual([0n, 0n, 0n]);
    expect((await restored?.service.reconcile())?.findings).toEqual([]);
    await restored?.close();
  },
);

test("E17: an order that another self of the database has served cannot be cancelled", async () => {
  const served = await serve(SEND);
  const [first] = served.copies;
  const restored = first === undefined ? null : await goOnWith(first, served);
  expect(restored).not.toBeNull();
  await expect(
    restored?.service.cancelTransaction(served.caller, served.transactionId),
  ).rejects.toMatchObject({ code: "ALREADY_PROCESSED", details: { reason: "deposit_detected" } });
  await restored?.close();
});
