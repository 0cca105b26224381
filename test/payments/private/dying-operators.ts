/** Operators give their word in a process that is killed around each of its calls; the next one goes on to the end. */
// modules: private
import { expect } from "vitest";
import { SOL_MINT } from "../../../src/core/address.ts";
import { LedgerUnavailable } from "../../../src/ledger/ledger.ts";
import { keypairSigner } from "../../../src/ledger/sign-transaction.ts";
import { OperatorRefused } from "../../../src/payments/frame/acts/act.ts";
import type { Operator } from "../../../src/service/open-operator.ts";
import { fixedPrices } from "../../../src/payments/frame/prices/prices.ts";
import type { PaymentServiceOptions } from "../../../src/service/payment-service-options.ts";
import type { PrivateRoutingOptions } from "../../../src/payments/private/private-routing-options.ts";
import { mortalProcess, type Death, type DeathAtCall, type MortalProcess } from "../../kit/mortal.ts";
import { passTime } from "../../kit/pass-time.ts";
import { isTimeUp } from "../../kit/exploration-budget.ts";
import { seedOfRun, shuffled } from "../../kit/seed.ts";
import { THOROUGH } from "../../kit/thorough.ts";
import { MINUTE, SOL, type Ordered, type Scene } from "./scene.ts";

const LEASE_MS = 15_000;
/** How long a look is, until everything has moved; after a death a refund may wait for ten minutes. */
const LOOKS_MS: readonly number[] = [
  ...Array<number>(5).fill(20_000),
  ...Array<number>(12).fill(11 * MINUTE),
];
/** While a minute passes so many slots do, and at the most so many at once. */
const SLOTS_PER_MINUTE = 105;
const MAX_SLOTS = 210;
/** Each of these is died at, before or after it as the run's seed has it; of the others, which change nothing, one in so many. */
const CHANGING: ReadonlySet<string> = new Set(["commit", "broadcast", "sign"]);

/** A word about an order, and the options of the service that hears it. */
export interface Word {
  readonly order: Ordered;
  readonly say: (operator: Operator) => Promise<unknown>;
  readonly options?: Partial<PaymentServiceOptions>;
  readonly routing?: Partial<PrivateRoutingOptions>;
}

/** The calls of a life, and what was wrong at its end. */
export interface Lived {
  readonly calls: readonly string[];
  readonly broken: readonly string[];
}

/** Who does not know whether a word was heard says it again, and finds that it was, or that it is done now. */
export async function unlessHeard(said: Promise<unknown>): Promise<void> {
  await said.catch((error: unknown) => {
    if (!(error instanceof OperatorRefused)) throw error;
  });
}

/** The word is given, again after a crash, and carried out until the address has come to rest: the first process's calls. */
export async function carriedOut(
  world: Scene,
  word: Word,
  death: Death | undefined,
): Promise<readonly string[]> {
  const first = mortalProcess(death);
  await act(world, first, word);
  if (first.isDead()) {
    world.clock.advance(LEASE_MS);
    await act(world, mortalProcess(), word);
  }
  return first.calls;
}

async function act(
  world: Scene,
  process: MortalProcess,
  { order, say, options, routing }: Word,
): Promise<void> {
  const { storage, ledger, clock, chain, mints } = world;
  const prices = { [SOL_MINT]: SOL, [mints.USDC]: 150_000_000n, [mints.USDT]: 150_000_000n };
  const service = world.another({
    storage: process.within(storage),
    ledger: process.within(ledger),
    clock: process.timedBy(clock),
    privateRouting: {
      sponsor: process.within(keypairSigner(world.sponsor.secretKey)),
      treasury: world.treasury.address,
      prices: fixedPrices(prices),
      ...routing,
    },
    leaseMs: LEASE_MS,
    ...options,
  });
  const settled = (): Promise<void> => process.awaits(service.settled());
  const nextDue = (): Promise<number | null> =>
    process.awaits(storage.nextDue(service.workflows.flatMap(({ claims }) => claims)));
  const work = async (): Promise<void> => {
    await service.start();
    await say(service.operator).catch((error: unknown) => {
      // After a gap in the lives of the database no node shows a final block of the present yet.
      if (!(error instanceof LedgerUnavailable)) throw error;
      // The final block is of the moment before the last that the chain was advanced in.
      for (const slots of [MAX_SLOTS, MAX_SLOTS]) chain.advance(slots);
      return say(service.operator);
    });
    for (const ms of LOOKS_MS) {
      const engine = { clock, engine: { settled }, storage: { nextDue }, workflows: [] };
      await passTime(engine, clock.now() + ms);
      chain.advance(Math.min((ms / MINUTE) * SLOTS_PER_MINUTE, MAX_SLOTS));
      await settled();
      if (await process.awaits(isAtRest(world, order))) return;
    }
    throw new Error(`${order.address} never comes to rest`);
  };
  await Promise.race([process.awaits(work()), process.died]);
  // Also the calls of a stop are died at.
  if (!process.isDead()) await Promise.race([service.stop(), process.died]);
}

/** One call in so many is died at: of those that change something, and of the others. Odd, so that one moment follows the other. */
export interface Density {
  readonly change: number;
  readonly other: number;
}

/** Whether nothing is on its way, and nothing is to be sent. */
async function isAtRest({ storage }: Scene, { id }: Ordered): Promise<boolean> {
  const [view] = await storage.orderViews([id]);
  const isDone = view?.transfers.every(({ state }) => state === "done" || state === "ended");
  return view?.order.overState === "idle" && isDone === true;
}

/** Lives once, then once more for each call that is died at, and expects that nothing was ever broken. */
export async function expectWholeAtEveryDeath(
  live: (death?: Death) => Promise<Lived>,
  density: Density,
): Promise<void> {
  const { calls, broken } = await live();
  const found = broken.map((each) => `never killed: ${each}`);
  const deaths = [...calls.entries()].flatMap(([index, method]): DeathAtCall[] => {
    const oneIn = CHANGING.has(method) ? density.change : density.other;
    if ((index + seedOfRun()) % oneIn !== 0) return [];
    return momentsOf(index).map((moment) => ({ call: index + 1, moment }));
  });
  for (const [index, death] of shuffled(deaths).entries()) {
    if (index > 0 && isTimeUp()) break;
    const place = `killed ${death.moment} call ${death.call} (${String(calls[death.call - 1])})`;
    const life = await live(death).catch((cause: unknown) => {
      throw new Error(place, { cause });
    });
    found.push(...life.broken.map((each) => `${place}: ${each}`));
  }
  const missing = [...CHANGING].filter((method) => !calls.includes(method));
  expect([...found, ...missing.map((method) => `nobody was killed at ${method}`)]).toEqual([]);
}

function momentsOf(index: number): readonly ("before" | "after")[] {
  if (THOROUGH) return ["before", "after"];
  return [(index + seedOfRun()) % 2 === 0 ? "before" : "after"];
}
