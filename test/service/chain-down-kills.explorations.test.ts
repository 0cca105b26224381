/** E5, E10: a process that waits for its chain is killed at any call, and the one after it goes on. */
import { expect } from "vitest";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { mortalProcess, type Death, type DeathAtCall, type MortalProcess } from "../kit/mortal.ts";
import { isTimeUp } from "../kit/exploration-budget.ts";
import { seedOfRun, shuffled } from "../kit/seed.ts";
import type { ServiceFixture } from "../kit/service-fixture.ts";
import { serviceTest as test } from "../kit/service-test.ts";
import { byDepth, EXPLORING_MS } from "../kit/thorough.ts";
import { lateNode, live } from "./late-node.ts";

const options = { broadcastDelayMs: 20_000 };
const LEASE_MS = 15_000;
/** One in so many calls is died at. */
const STRIDE = byDepth({ quick: 24, ci: 8, long: 1 });

/**
 * A transaction is left that was not sent yet. One process starts without its chain, which comes back, and dies or not;
 * another one starts after it.
 */
async function liveThrough(world: ServiceFixture, death?: Death): Promise<MortalProcess> {
  const caller = await world.caller();
  const from = world.wallet("alice", { lamports: 1_000_000_000n, usdc: 50_000_000n });
  const to = world.wallet("bob").address;
  const { transactionId } = await world.send(caller, { from, to, amount: "1" });
  await world.service.stop();

  const process = mortalProcess(death);
  const node = lateNode();
  const ledger: Ledger = world.ledgerOf([node.option]);
  const late = world.another({
    storage: process.within(world.storage),
    ledger: process.within(ledger),
    clock: process.timedBy(world.clock),
  });
  void late.start();
  await live(world.clock, 30_000);
  expect(process.calls).not.toContain("broadcast");
  node.serves = world.chain;
  await live(world.clock, 20_000);
  process.kill();

  const next = world.another();
  await next.start();
  await live(world.clock, LEASE_MS + 5_000);
  for (const slots of [2, 40]) {
    world.chain.advance(slots);
    await live(world.clock, 5_000);
  }
  expect(await next.transaction(caller, transactionId)).toMatchObject({ status: "completed" });
  const { tokens } = await next.balances(to);
  expect(tokens.map(({ balance }) => balance)).toEqual(["1"]);
  expect(await next.health()).toMatchObject({ status: "ok", deadLetters: 0 });
  await next.stop();
  await ledger.close();
  return process;
}

test(
  "nothing is sent before the chain was compared, and what was held back is paid once",
  {
    timeout: EXPLORING_MS,
  },
  async ({ open }) => {
    const { calls } = await liveThrough(await open(options));
    expect(calls).toContain("broadcast");
    const first = 1 + (seedOfRun() % STRIDE);
    const deaths = calls.flatMap((_, index): DeathAtCall[] => {
      const call = index + 1;
      if (call % STRIDE !== first % STRIDE) return [];
      return [
        { call, moment: "before" },
        { call, moment: "after" },
      ];
    });
    for (const [index, death] of shuffled(deaths).entries()) {
      if (index > 0 && isTimeUp()) break;
      const { call, moment } = death;
      await liveThrough(await open(options), death).catch((cause: unknown) => {
        throw new Error(`killed ${moment} call ${call} (${String(calls[call - 1])})`, { cause });
      });
    }
  },
);
