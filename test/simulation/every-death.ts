/** The enumerator: lives a flow once to count its calls, then once more for each of them, killed before and after it. */
// modules: private, webhooks
import { afterAll, beforeAll, expect, test } from "vitest";
import { adapters, type Adapter } from "../kit/adapters.ts";
import type { PaymentService } from "../../src/service/payment-service.ts";
import { turns } from "../kit/engine-world.ts";
import { mortalProcess, type Death, type DeathAtCall, type MortalProcess } from "../kit/mortal.ts";
import { passTime } from "../kit/pass-time.ts";
import { isTimeUp } from "../kit/exploration-budget.ts";
import { seedOfRun, shuffled } from "../kit/seed.ts";
import { byDepth, drawn, THOROUGH } from "../kit/thorough.ts";
import { untilRest } from "./acts.ts";
import { brokenPromises } from "./broken-promises.ts";
import type { Flow, Stage } from "./flow.ts";
import {
  LEASE_MS,
  openWorld,
  POLL_MS,
  surroundings,
  type Books,
  type Surroundings,
  type World,
} from "./world.ts";
import { booksOf } from "./money-promises.ts";
import { DECIMALS, type Asset } from "./order.ts";

/** What becomes of the processes of a life. */
export interface Ordeal {
  /** Ends the test's name. */
  readonly name: string;
  /** So many processes in a row die at the same call, each a lease after the one before; the next one lives. */
  readonly deaths: number;
  /** A second process works beside the first from the beginning, and takes over what the dead leave. */
  readonly beside: boolean;
}

export const KILLED_ONCE: Ordeal = { name: "killed once at any call", deaths: 1, beside: false };
/** Fewer than the five crashes after which a task is set aside, counting that of the process before the flow's acts. */
export const KILLED_AGAIN: Ordeal = {
  name: "killed three times at any call",
  deaths: 3,
  beside: false,
};
export const TAKEN_OVER: Ordeal = {
  name: "of two processes one is killed at any call",
  deaths: 1,
  beside: true,
};

/**
 * Which calls are died at. `every`: each. `changing`: each that may change anything outside, and one in eight of the
 * others, before and after which the world is the same. `some`: one in four of the former, one in sixteen of the latter.
 * `few`: one in twelve and one in forty-eight. `fewest`: one in forty-eight and one in 192, and only
 * before or only after it; `rare`: one in 192 and one in 1,536, in the same way. Which ones, a seed says.
 */
export type Thoroughness = "every" | "changing" | "some" | "few" | "fewest" | "rare";

/**
 * How thoroughly CI kills a flow on each adapter, by its name. `npm test` takes one of them, and what is sparser by two;
 * `npm run test:long` is thorough everywhere.
 */
export type Plan = Readonly<Record<string, Thoroughness>>;

const SEED = seedOfRun();
const ONE_IN: Readonly<Record<Thoroughness, { readonly changing: number; readonly other: number }>> = {
  every: { changing: 1, other: 1 },
  changing: { changing: 1, other: 8 },
  some: { changing: 4, other: 16 },
  few: { changing: 12, other: 48 },
  fewest: { changing: 48, other: 192 },
  rare: { changing: 192, other: 1_536 },
};
const SPARSER: Readonly<Record<Thoroughness, Thoroughness>> = {
  every: "changing",
  changing: "some",
  some: "few",
  few: "fewest",
  fewest: "rare",
  rare: "rare",
};
const CHANGING: ReadonlySet<string> = new Set(["commit", "release", "broadcast", "sign", "attempt"]);
// Fewer calls than any flow makes: an enumeration that kills nobody proves nothing.
const FEWEST_CALLS = 10;
const MAX_TURNS = 5_000;
const TURNS_A_MILLISECOND = 100;
/** For a machine that is busy with everything else, too; the long run lives a thousand times and more. */
const MAX_MS = THOROUGH ? 14_400_000 : 900_000;

/** One test per adapter: whatever the flow holds, it holds at every death. */
export function testEveryDeath(flow: Flow, ordeal: Ordeal, plan: Plan): void {
  let around: Surroundings;
  beforeAll(async () => {
    around = await surroundings();
  });
  afterAll(() => around.close());
  const planOn = ({ name }: Adapter): Thoroughness | undefined => (THOROUGH ? "every" : plan[name]);
  for (const adapter of drawn(adapters.filter(planOn), flow.holds)) {
    const planned = planOn(adapter);
    if (planned === undefined) continue;
    const thoroughness = byDepth({ quick: SPARSER[SPARSER[planned]], ci: planned, long: planned });
    test(`${flow.holds}: ${ordeal.name}, on ${adapter.name}`, { timeout: MAX_MS }, async () => {
      const { calls, broken, books } = await liveThrough(flow, ordeal, undefined, around, adapter);
      expect(broken).toEqual([]);
      expect(calls.length).toBeGreaterThan(FEWEST_CALLS);
      const places = chosenCalls(calls, thoroughness, flow.makes ?? []).flatMap((call) =>
        momentsAt(call, thoroughness).map((moment): DeathAtCall => ({ call, moment })),
      );
      for (const [index, death] of shuffled(places).entries()) {
        if (index > 0 && isTimeUp()) break;
        const { call, moment } = death;
        const place = `killed ${moment} call ${call} (${calls[call - 1]}, seed ${SEED})`;
        const life = liveThrough(flow, ordeal, death, around, adapter);
        const lived = await life.catch((cause: unknown) => {
          throw new Error(place, { cause });
        });
        expect([place, ...lived.broken]).toEqual([place]);
        expect([place, otherGains(lived.books, books)]).toEqual([place, []]);
      }
    });
  }
}

/**
 * Wallets are new in each life. How long a program seeks the account of one decides a compute limit, and so the bid that a fee
 * pays for: some ten-thousandths of a dollar at most. Who gains anything else differs.
 */
const SEARCH_DIFFERS = 200n;

/** Wallets that have gained something else in this life than in the one without a death. */
function otherGains(lived: Books, undying: Books): readonly string[] {
  const names = new Set([...Object.keys(lived), ...Object.keys(undying)]);
  return [...names].flatMap((name) =>
    (Object.keys(DECIMALS) as Asset[]).flatMap((asset) => {
      const [has, had] = [lived[name]?.[asset] ?? 0n, undying[name]?.[asset] ?? 0n];
      const differs = has > had ? has - had : had - has;
      return differs > SEARCH_DIFFERS ? [`${name} gained ${has} ${asset}, not ${had}`] : [];
    }),
  );
}

/** The numbers, from 1, of the calls to die at; `always` are methods that are died at whatever the seed says. */
function chosenCalls(
  calls: readonly string[],
  thoroughness: Thoroughness,
  always: readonly string[],
): readonly number[] {
  const { changing, other } = ONE_IN[thoroughness];
  const chosen = new Set<number>();
  for (const [index, method] of calls.entries()) {
    if (drawnNumber(index + 1) % (CHANGING.has(method) ? changing : other) === 0) chosen.add(index + 1);
  }
  for (const method of always) {
    const made = calls.flatMap((call, index) => (call === method ? [index + 1] : []));
    if (made.length === 0) throw new Error(`nobody can be killed at ${method}: it was never called`);
    if (!made.some((call) => chosen.has(call))) chosen.add(made[drawnNumber(made.length) % made.length] ?? 0);
  }
  return [...chosen].toSorted((a, b) => a - b);
}

function momentsAt(call: number, thoroughness: Thoroughness): readonly Death["moment"][] {
  if (thoroughness !== "fewest" && thoroughness !== "rare") return ["before", "after"];
  return [drawnNumber(-call) % 2 === 0 ? "before" : "after"];
}

/** 16 bits that look like chance, the same in every run of one seed. */
function drawnNumber(number: number): number {
  const seeded = Math.imul(number, 0x9e37_79b1) ^ Math.imul(SEED, 0x85eb_ca6b);
  const mixed = Math.imul(seeded ^ (seeded >>> 15), 0x2c1b_3c6d);
  return (mixed ^ (mixed >>> 12)) >>> 16;
}

/** One life: the calls of its first process, the promises that were broken in the end, and who owns what then. */
export async function liveThrough(
  flow: Flow,
  { deaths, beside }: Ordeal,
  death: Death | undefined,
  around: Surroundings,
  adapter: Adapter,
): Promise<{ readonly calls: readonly string[]; readonly broken: readonly string[]; readonly books: Books }> {
  const world = await openWorld(around, adapter, Object.keys(flow.ends), flow);
  try {
    if (flow.before !== undefined) {
      const early = mortalProcess(flow.before.death);
      await play(world, flow.before.acts, 0, [early]);
      early.kill();
      for (const [payment, state] of Object.entries(flow.before.leaves)) {
        const left = await world.stateOf(payment);
        if (left !== state) throw new Error(`${payment} was left ${String(left)}, not ${state}`);
      }
    }
    const survivors = beside ? [mortalProcess()] : [];
    for (const survivor of survivors) await world.service(survivor);
    const acts = [...flow.acts, untilRest];
    const first = mortalProcess(death);
    let process = first;
    let act = await play(world, acts, 0, [process, ...survivors]);
    for (let died = 1; process.isDead(); died++) {
      const [survivor] = survivors;
      if (survivor === undefined) {
        // The leases of the dead run out before anybody else may do their work.
        world.fixture.clock.advance(LEASE_MS);
        process = mortalProcess(died < deaths ? death : undefined);
      } else {
        await takeOver(world);
        process = survivor;
      }
      act = await play(world, acts, act, [process]);
    }
    return {
      calls: [...first.calls],
      // Who was killed before the acts may have had a delivery in hand.
      broken: await brokenPromises(world, flow, death === undefined && flow.before === undefined),
      books: await booksOf(world),
    };
  } finally {
    await world.close();
  }
}

/** Lives through acts from number `from` on with the first of these processes, until they are over or it dies. */
async function play(
  world: World,
  acts: Flow["acts"],
  from: number,
  processes: readonly [MortalProcess, ...MortalProcess[]],
): Promise<number> {
  const [process] = processes;
  let next = from;
  const work = async (): Promise<void> => {
    const stage = await stageOf(world, processes);
    for (; next < acts.length; next++) await process.awaits(acts[next]?.(stage) ?? Promise.resolve());
  };
  await Promise.race([process.awaits(work()), process.died]);
  return next;
}

/** The stage of one process, with others working beside it. */
async function stageOf(
  world: World,
  processes: readonly [MortalProcess, ...MortalProcess[]],
): Promise<Stage> {
  const [process] = processes;
  const services: PaymentService[] = [];
  for (const each of processes) services.push(await world.service(each));
  const [service] = services;
  if (service === undefined) throw new Error("a stage needs a process");
  const settled = async (): Promise<void> => {
    // What one process does may be news to the one asked before it.
    for (const each of services.length === 1 ? services : [...services, ...services]) {
      await process.awaits(each.settled());
    }
  };
  const { clock, chain } = world.fixture;
  // A dead process asks nobody, also not through those who look at its world.
  const nextDue = (): Promise<number | null> => process.awaits(world.nextDue());
  return {
    world,
    service,
    pass: (ms) =>
      passTime({ clock, engine: { settled }, storage: { nextDue }, workflows: [] }, clock.now() + ms),
    async slots(count) {
      chain.advance(count);
      await settled();
    },
    isAtRest: () =>
      process.awaits(world.nextDue().then(async (due) => due === null && (await world.watched()).size === 0)),
  };
}

/** E11: whoever lives holds, within lease and poll and without being told, everything that was due. */
async function takeOver(world: World): Promise<void> {
  const { clock } = world.fixture;
  clock.advance(LEASE_MS + POLL_MS);
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const due = await world.nextDue();
    if (due === null || due > clock.now()) return;
    await turns(1);
    // A worker to whom something seemed due that another one had taken looks again in a millisecond.
    if (turn % TURNS_A_MILLISECOND === 0) clock.advance(1);
  }
  throw new Error("nobody took over what the dead held");
}
