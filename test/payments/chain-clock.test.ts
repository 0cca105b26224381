/** A clock that the chain contradicts: nothing new is taken by it, and what is under way goes on. */
import { expect } from "vitest";
import type { Clock } from "../../src/core/runtime.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { oddEndpoint, type OddEndpoint } from "../kit/odd-endpoints.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";
import { serviceTest as test } from "../kit/service-test.ts";

const HOUR_MS = 3_600_000;
const WISH = { inputAsset: "USDC", outputAsset: "USDC", amount: "1" };
const REFUSED = { code: "SERVICE_PAUSED", details: { scope: "wallet", reason: "clock", retryAfter: 60 } };

/** A service by a clock of its own, over three nodes of which two must agree. */
interface Scene {
  readonly service: PaymentService;
  readonly nodes: readonly OddEndpoint[];
  /** How far its clock is ahead of that of the chain. */
  aheadMs: number;
  /** Has the nodes looked at, once blocks were made, or without. */
  look(way?: "moving" | "standing"): Promise<void>;
}

async function scene(world: ServiceFixture): Promise<Scene> {
  const { chain, clock } = world;
  const nodes = ["first", "second", "third"].map((name) => oddEndpoint(chain, name));
  const ledger = world.ledgerOf(nodes.map(({ option }) => option));
  const { sleep } = clock;
  const own: Clock = { now: () => clock.now() + made.aheadMs, elapsed: () => clock.elapsed?.() ?? 0, sleep };
  const made = {
    service: world.another({ ledger, clock: own }),
    nodes,
    aheadMs: 0,
    async look(way = "moving") {
      clock.advance(5_000);
      // The newest confirmed block is of the step before.
      if (way === "moving") for (let step = 0; step < 2; step += 1) chain.advance(2);
      await ledger.heights("finalized").catch(() => {});
      // The comparison of the endpoints goes on beside the question.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return made;
}

/** Tells a time of the newest block that is off by so much. */
function offBy(ms: number): OddEndpoint["rule"] {
  type Clocks = {
    readonly context: object;
    readonly value: readonly ({ readonly data: [string, string] } | null)[];
  };
  return ({ method, params }) =>
    method === "getMultipleAccounts" && (params[0] as readonly string[]).length === 1
      ? {
          kind: "lie",
          answer: (honest) => {
            const { context, value } = honest as Clocks;
            const data = Buffer.from(value[0]?.data[0] ?? "", "base64");
            data.writeBigInt64LE(data.readBigInt64LE(32) + BigInt(ms / 1_000), 32);
            return { context, value: [{ ...value[0], data: [data.toString("base64"), "base64"] }] };
          },
        }
      : undefined;
}

test("D35: while the chain is over a minute from the storage's clock new quotes and orders are refused, health says so, and what is under way goes on", async ({
  world,
}) => {
  const caller = await world.caller();
  const alice = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const bob = world.wallet("bob");
  const made = await scene(world);
  const { service } = made;
  await made.look();
  await made.look();
  const send = { from: alice, to: bob.address, amount: "1" };
  const { body } = await world.prepareSend(caller, send);
  const { transactionId } = await world.send(caller, send);
  const other = { ...body, recipients: [...body.recipients] };
  for (const aheadMs of [-HOUR_MS, -61_000, 62_000, HOUR_MS]) {
    made.aheadMs = aheadMs;
    await expect(service.createQuote(caller, WISH), `${aheadMs}`).rejects.toMatchObject(REFUSED);
    await expect(service.refreshQuote(caller, body.quoteId)).rejects.toMatchObject(REFUSED);
    await expect(service.createTransaction(caller, other)).rejects.toMatchObject(REFUSED);
    const refused = service.createQuote(caller, { ...WISH, mode: "private" });
    await expect(refused).rejects.toMatchObject({
      code: "ROUTING_UNAVAILABLE",
      details: { reason: "clock", retryAfter: 60 },
    });
    const { status, clock } = await service.health();
    expect([status, clock.state]).toEqual(["degraded", "contradicted"]);
    expect(clock.message).toContain("ms ahead of the chain");
  }
  // What is under way is carried on by a process whose clock is wrong, too.
  await world.service.stop();
  await service.start();
  await service.settled();
  world.chain.advance(40);
  await service.settled();
  expect(await service.transaction(caller, transactionId)).toMatchObject({ status: "completed" });
  for (const aheadMs of [-59_000, 0, 58_000]) {
    made.aheadMs = aheadMs;
    await expect(service.createQuote(caller, WISH), `${aheadMs}`).resolves.toBeDefined();
  }
  expect((await service.health()).clock.state, "until an hour of agreement").toBe("doubted");
  world.clock.advance(HOUR_MS);
  expect((await service.health()).clock).toEqual({ state: "trusted", message: null });
  await service.stop();
});

test("D35: one endpoint that tells another time is its own illness, and two that differ agree on nothing", async ({
  world,
}) => {
  const caller = await world.caller();
  const made = await scene(world);
  const { service, nodes } = made;
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error("there are three");
  const subjects = async () => (await service.operator.attention()).map(({ kind }) => kind);
  first.rule = offBy(HOUR_MS);
  await made.look();
  await made.look();
  await expect(service.createQuote(caller, WISH)).resolves.toBeDefined();
  expect(await subjects()).toEqual([]);
  second.rule = offBy(-HOUR_MS);
  await made.look();
  await made.look();
  await expect(service.createQuote(caller, WISH)).resolves.toBeDefined();
  // Two that tell alike are as many as must agree.
  second.rule = offBy(HOUR_MS + 5_000);
  await made.look();
  await made.look();
  await expect(service.createQuote(caller, WISH)).rejects.toMatchObject(REFUSED);
});

test("D35: a chain that stands still contradicts no clock, also one that stood still while nothing was asked", async ({
  world,
}) => {
  const caller = await world.caller();
  const made = await scene(world);
  const { service } = made;
  await made.look();
  await made.look();
  // Blocks were made at first, then for half an hour none.
  world.chain.advance(100);
  world.clock.advance(HOUR_MS / 2);
  for (let looks = 0; looks < 20; looks += 1) {
    await expect(service.createQuote(caller, WISH), `look ${looks}`).resolves.toBeDefined();
    await made.look("standing");
  }
  // It goes on: what is confirmed first was made before.
  world.chain.advance(1);
  await made.look("standing");
  await expect(service.createQuote(caller, WISH)).resolves.toBeDefined();
  expect((await service.health()).clock.state).toBe("trusted");
});

test("D35: a clock that was set wrong while nothing was asked is refused at once, and no order asks a node for the time", async ({
  world,
}) => {
  const caller = await world.caller();
  const made = await scene(world);
  const { service, nodes } = made;
  await made.look();
  await made.look();
  world.clock.advance(HOUR_MS / 2);
  made.aheadMs = HOUR_MS;
  const asked = nodes.map(({ calls }) => calls.length);
  await expect(service.createQuote(caller, WISH)).rejects.toMatchObject(REFUSED);
  await expect(service.createQuote(caller, WISH)).rejects.toMatchObject(REFUSED);
  // The first question in a long while has the endpoints looked at, beside the quote.
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  const more = nodes.map(({ calls }, index) => calls.slice(asked[index]));
  expect(more).toEqual([["getMultipleAccounts"], ["getMultipleAccounts"], ["getMultipleAccounts"]]);
});
