/** M28: a private swap that a restored copy had planned and not signed is known by its marker, and by what another copy's transaction paid. */
// modules: private
import { expect, onTestFinished, test } from "vitest";
import type { Caller } from "../../../src/payments/frame/accounts/caller.ts";
import type { PaymentService } from "../../../src/service/payment-service.ts";
import { passTime } from "../../kit/pass-time.ts";
import { units } from "../../kit/money.ts";
import { swapFixture, type SwapFixture } from "../../kit/swap-fixture.ts";
import { copyWith, keepCopies, restore } from "../private/kept-copies.ts";

const MINUTE = 60_000;
const SOL = 1_000_000_000n;
const LONG = { timeout: 120_000 };

/** A swap that the first service has served to its end. */
interface Served {
  readonly world: SwapFixture;
  readonly caller: Caller;
  readonly transactionId: string;
  /** The copy in which the swap is planned and not signed. */
  readonly copy: Uint8Array;
}

async function served(give: "SOL" | "USDC", get: "SOL" | "USDC"): Promise<Served> {
  const { storage, copies } = await keepCopies();
  const world = await swapFixture({ options: { storage } });
  onTestFinished(() => world.close());
  const caller = await world.caller();
  const sender = world.wallet("alice", { lamports: 2n * SOL, usdc: 1n });
  world.chain.advance(35);
  const amount = give === "SOL" ? "1" : "150";
  const { body } = await world.orderSwap(caller, { sender, give, get, amount });
  const due = units(body.depositAmount, give === "SOL" ? 9 : 6);
  await world.deposit(body.ephemeralAddress, give === "SOL" ? { lamports: due } : { usdc: due });
  await world.settle(6);
  await world.service.stop();
  const { transactionId } = body;
  return {
    world,
    caller,
    transactionId,
    copy: copyWith(copies, transactionId, { kind: "chunk", state: "planned" }),
  };
}

/** A service on the copy, in which another price stands. */
async function startOn({ world, copy, transactionId }: Served): Promise<{
  readonly service: PaymentService;
  readonly pass: (minutes: number) => Promise<void>;
}> {
  const { clock, chain } = world;
  const storage = await restore(copy);
  const id = `${transactionId}:0`;
  await storage.commit([{ writes: [{ table: "recipients", id, set: { amount: 1n } }] }]);
  const service = world.another({ storage });
  await service.start();
  onTestFinished(async () => {
    await service.stop();
    await storage.close();
  });
  const pass = async (minutes: number): Promise<void> => {
    for (let minute = 0; minute < minutes; minute++) {
      const { workflows } = service;
      await passTime({ clock, engine: service, storage, workflows }, clock.now() + MINUTE);
      for (let round = 0; round < 4; round++) {
        chain.advance(35);
        await service.settled();
      }
    }
  };
  return { service, pass };
}

test.each([
  ["SOL", "USDC"],
  ["USDC", "SOL"],
] as const)(
  "M28, K4: a private swap of %s for %s that another copy has made is completed with what it paid, and is not made again",
  LONG,
  async (give, get) => {
    const order = await served(give, get);
    const { world, caller, transactionId } = order;
    const made = await world.service.transaction(caller, transactionId);
    expect(made).toMatchObject({ status: "completed" });
    const desk = await world.held(world.desk);
    const { service, pass } = await startOn(order);
    await pass(5);
    expect(await service.transaction(caller, transactionId)).toMatchObject({
      status: "completed",
      attention: null,
      recipients: [made.recipients[0]],
    });
    expect(await world.held(world.desk)).toEqual(desk);
    expect((await service.reconcile()).findings).toEqual([]);
  },
);

test(
  "M28, K4: a swap of another copy that no node lists is told by its marker's length an hour later, and shows no signature",
  LONG,
  async () => {
    const order = await served("SOL", "USDC");
    const { world, caller, transactionId } = order;
    const desk = await world.held(world.desk);
    world.chain.faults.add(({ method }) =>
      method === "getSignaturesForAddress" ? { kind: "lie", answer: () => [] } : undefined,
    );
    const { service, pass } = await startOn(order);
    await pass(3);
    expect(await service.transaction(caller, transactionId)).toMatchObject({ status: "processing" });
    await pass(62);
    expect(await service.transaction(caller, transactionId)).toMatchObject({
      status: "completed",
      recipients: [{ status: "paid", signature: null }],
    });
    expect(await world.held(world.desk)).toEqual(desk);
  },
);
