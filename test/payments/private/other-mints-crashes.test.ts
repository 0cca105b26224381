/** E5, P11: the process that sends tokens of another mint on is killed around each of its calls; they arrive once. */
import { expect, test } from "vitest";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { OperatorRefused } from "../../../src/payments/operator/operator-refused.ts";
import { fixedPrices } from "../../../src/payments/prices/prices.ts";
import { SOL_MINT } from "../../../src/address.ts";
import { mortalProcess, type Death, type MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import { seedOfRun } from "../../kit/seed.ts";
import { byDepth, EXPLORING_MS, THOROUGH } from "../../kit/thorough.ts";
import { BY } from "../../kit/by.ts";
import { foreignMint, type ForeignMint } from "./foreign-mint.ts";
import { scene, type Ordered, type Scene } from "./scene.ts";

const LEASE_MS = 15_000;
/** How long a look is, until everything has moved, and then while its markers get old: the last sweep comes after that. */
const LOOKS_MS: readonly number[] = [
  ...Array<number>(5).fill(20_000),
  ...Array<number>(12).fill(31 * 60_000),
];
/** While a minute passes so many slots do, and at the most so many at once. */
const SLOTS_PER_MINUTE = 105;
const MAX_SLOTS = 210;
/** Each of these is died at, before or after it as the run's seed has it; of the others, which change nothing, one in so many. */
const CHANGING: ReadonlySet<string> = new Set(["commit", "broadcast", "sign"]);
// Odd, so that one moment follows the other.
const ONE_IN = byDepth({ quick: 843, ci: 21, long: 3 });
const ONE_CHANGE_IN = byDepth({ quick: 13, ci: 1, long: 1 });

async function live(death?: Death): Promise<{ calls: readonly string[]; broken: readonly string[] }> {
  const world = await scene();
  try {
    const order = await world.sendTo();
    const foreign = await foreignMint(world, "token-2022");
    await foreign.give(order.address, 7n);
    await world.service.cancelTransaction(world.customer, order.id);
    await world.settle(2);
    await world.service.stop();
    const first = mortalProcess(death);
    await act(world, first, { order, foreign });
    if (first.isDead()) {
      world.clock.advance(LEASE_MS);
      await act(world, mortalProcess(), { order, foreign });
    }
    return { calls: first.calls, broken: await brokenIn(world, { order, foreign }) };
  } finally {
    await world.close();
  }
}

interface Given {
  readonly order: Ordered;
  readonly foreign: ForeignMint;
}

/** The operator gives the word, again after a crash, and the service works until the address has come to rest. */
async function act(world: Scene, process: MortalProcess, { order, foreign }: Given): Promise<void> {
  const { storage, ledger, clock, chain } = world;
  const service = world.another({
    storage: process.within(storage),
    ledger: process.within(ledger),
    clock: process.timedBy(clock),
    privateRouting: {
      sponsor: process.within(keypairSigner(world.sponsor.secretKey)),
      treasury: world.treasury.address,
      prices: fixedPrices({ [SOL_MINT]: 1n, [world.mints.USDC]: 1n, [world.mints.USDT]: 1n }),
    },
    leaseMs: LEASE_MS,
  });
  const settled = (): Promise<void> => process.awaits(service.settled());
  const nextDue = (): Promise<number | null> =>
    process.awaits(storage.nextDue(service.workflows.flatMap(({ claims }) => claims)));
  const work = async (): Promise<void> => {
    await service.start();
    // An operator who does not know whether the word was heard says it again.
    const say = (): Promise<unknown> =>
      service.operator.returnTokens(order.id, { mint: foreign.mint }, BY).catch((error: unknown) => {
        if (!(error instanceof OperatorRefused)) throw error;
      });
    await say().catch((error: unknown) => {
      // After a gap in the lives of the database: no node shows a final block of the present yet.
      if (!(error instanceof LedgerUnavailable)) throw error;
      // The final block is of the moment before the last that the chain was advanced in.
      for (const slots of [MAX_SLOTS, MAX_SLOTS]) chain.advance(slots);
      return say();
    });
    for (const ms of LOOKS_MS) {
      const engine = { clock, engine: { settled }, storage: { nextDue }, workflows: [] };
      await passTime(engine, clock.now() + ms);
      chain.advance(Math.min((ms / 60_000) * SLOTS_PER_MINUTE, MAX_SLOTS));
      await settled();
      if ((await process.awaits(world.stateOf(order))) === "resting") return;
    }
    throw new Error(`${order.address} never comes to rest`);
  };
  await Promise.race([process.awaits(work()), process.died]);
  // Also the calls of a stop are died at.
  if (!process.isDead()) await Promise.race([service.stop(), process.died]);
}

async function brokenIn(world: Scene, { order, foreign }: Given): Promise<readonly string[]> {
  const broken: string[] = [];
  const arrived = await foreign.heldBy(world.alice.address);
  if (arrived !== 7n) broken.push(`alice has ${arrived}`);
  const left = [await foreign.heldBy(order.address), ...(await world.held(order.address))];
  if (left.some((each) => each !== 0n)) broken.push(`the address holds ${left.join()}`);
  if (await foreign.isOpen(order.address)) broken.push("its account is still open");
  const lines = (await world.storage.entries(order.address)).map(({ kind, amount }) => `${kind} ${amount}`);
  if (lines.toSorted().join() !== "deposit 7,refund 7") broken.push(`on record: ${lines.join()}`);
  const payments = (await world.storage.transaction(order.id))?.payments ?? [];
  const paid = payments.filter(({ kind, status }) => kind === "refund" && status === "finalized");
  if (paid.length !== 1) broken.push(`${paid.length} payments took it`);
  const acts = (await world.service.operator.auditLog()).map(({ act: name }) => name);
  if (acts.join() !== "return_tokens") broken.push(`in the audit log: ${acts.join()}`);
  return broken;
}

function momentsOf(index: number): readonly ("before" | "after")[] {
  if (THOROUGH) return ["before", "after"];
  return [(index + seedOfRun()) % 2 === 0 ? "before" : "after"];
}

test(
  "E5, P11: returned tokens arrive once, wherever the process dies",
  { timeout: EXPLORING_MS },
  async () => {
    const { calls, broken } = await live();
    const found = broken.map((each) => `never killed: ${each}`);
    for (const [index, method] of calls.entries()) {
      const oneIn = CHANGING.has(method) ? ONE_CHANGE_IN : ONE_IN;
      if ((index + seedOfRun()) % oneIn !== 0) continue;
      for (const moment of momentsOf(index)) {
        const place = `killed ${moment} call ${index + 1} (${method})`;
        const life = await live({ call: index + 1, moment }).catch((cause: unknown) => {
          throw new Error(place, { cause });
        });
        found.push(...life.broken.map((each) => `${place}: ${each}`));
      }
    }
    const missing = [...CHANGING].filter((method) => !calls.includes(method));
    expect([...found, ...missing.map((method) => `nobody was killed at ${method}`)]).toEqual([]);
  },
);
