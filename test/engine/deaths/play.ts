/** Random lives of a few processes that share tasks, some of which end whoever begins them. */
import fc from "fast-check";
import type { Claim, Queue, Task } from "./model.ts";

/** What the play needs of a storage: the model has it, and so has each database behind a few lines. */
export interface Shared {
  arm(task: Pick<Task, "id" | "queue" | "at">): Awaitable<void>;
  claim(claim: Claim): Awaitable<readonly Given[]>;
  heartbeat(held: readonly Given[], by: Omit<Claim, "places" | "maxCrashes">): Awaitable<readonly string[]>;
  release(held: Given, how: { at: number; failed: boolean }): Awaitable<boolean>;
  end(held: Given): Awaitable<boolean>;
}

type Awaitable<Value> = Value | Promise<Value>;
export type Given = Pick<Task, "id" | "token">;

export interface Actor {
  readonly queue: Queue;
  readonly at: number;
  /** How long it takes, and whether it ends its process by then. */
  readonly lasts: number;
  readonly isPoison: boolean;
}

export interface Act {
  readonly at: number;
  readonly process: number;
  readonly what: "killed" | "frozen" | "givesBack" | "fails";
  /** Until it stands again, or is thawed. */
  readonly rest: number;
}

export interface Life {
  readonly actors: readonly Actor[];
  readonly acts: readonly Act[];
  readonly processes: number;
  readonly places: number;
}

/** In seconds: a lease is extended at every third, and no task takes as long as an hour. */
const LEASE = 6;
const BEAT = 2;
const ACTED = 120;
/** So long a life takes at most, until all is done that can be done. */
const PATIENCE = 6_000;

const upTo = (max: number) => fc.integer({ min: 0, max });

export const lives: fc.Arbitrary<Life> = fc.record({
  actors: fc.array(
    fc.record({
      queue: fc.constantFrom<Queue>("steps", "free"),
      at: fc.oneof(fc.constant(0), upTo(ACTED)),
      lasts: fc.oneof(upTo(3), upTo(40)),
      isPoison: fc.constantFrom(true, false, false, false),
    }),
    { minLength: 1, maxLength: 8, size: "max" },
  ),
  acts: fc.array(
    fc.record({
      at: upTo(ACTED),
      process: upTo(2),
      what: fc.constantFrom<Act["what"]>("killed", "frozen", "givesBack", "fails"),
      rest: upTo(20),
    }),
    { maxLength: 5 },
  ),
  processes: fc.integer({ min: 1, max: 3 }),
  places: fc.constantFrom(2, 99, 99, 99),
});

/**
 * Who may end a holder of an innocent task, each once: a kill, a freeze, and a poison until it is a suspect itself, which it
 * has to become anew after it has failed. So many deaths must be counted before there is a dead letter.
 */
function strangersIn({ actors, acts }: Life): number {
  const blows = acts.filter(({ what }) => what === "killed" || what === "frozen").length;
  const failures = acts.filter(({ what }) => what === "fails").length;
  return blows + actors.filter(({ isPoison }) => isPoison).length * (1 + failures);
}

interface Run extends Given {
  since: number;
}

interface Process {
  readonly nth: number;
  name: string;
  /** It does nothing before then: it is dead, or frozen with its runs in hand. */
  standsAt: number;
  runs: Run[];
}

/** What the play has seen of a task, by which it judges the rule: nothing of it comes from the rule. */
interface Seen extends Actor {
  readonly id: string;
  /** At how many deaths and freezes it was in hand. */
  blows: number;
  isEnded: boolean;
  dueAt: number;
  heldUntil: number;
}

export interface Outcome {
  /** Innocents that are not done, as the play ends: dead letters, or waiting for ever. */
  readonly lost: readonly string[];
  /** Poison that is not set aside. */
  readonly atLarge: readonly string[];
  /** What waited, though it was no suspect. */
  readonly waited: readonly string[];
  readonly deaths: number;
  readonly endedAt: number;
  /** Each innocent's longest time from when it was due to its end. */
  readonly latest: number;
}

/** Plays a life to its end. */
export class Play {
  readonly #life: Life;
  readonly #shared: Shared;
  readonly #maxCrashes: number;
  readonly #seen: readonly Seen[];
  readonly #processes: readonly Process[];
  readonly #waited = new Set<string>();
  #now = 0;
  #busyAt = 0;
  #deaths = 0;
  #latest = 0;

  constructor(life: Life, shared: Shared, maxCrashes = strangersIn(life)) {
    this.#life = life;
    this.#shared = shared;
    this.#maxCrashes = maxCrashes;
    this.#seen = life.actors.map((actor, index) => ({
      ...actor,
      id: `t${String(index).padStart(2, "0")}`,
      blows: 0,
      isEnded: false,
      dueAt: actor.at,
      heldUntil: 0,
    }));
    this.#processes = Array.from({ length: life.processes }, (_, nth) => ({
      nth,
      name: `p${nth}.0`,
      standsAt: 0,
      runs: [],
    }));
  }

  async outcome(): Promise<Outcome> {
    for (const { id, queue, at } of this.#seen) await this.#shared.arm({ id, queue, at: at * 1000 });
    while (!this.#isOver && this.#now < PATIENCE) {
      for (const process of this.#processes) await this.#act(process);
      for (const process of this.#processes) {
        if (process.standsAt <= this.#now) await this.#live(process);
        if (process.standsAt > this.#now || process.runs.length > 0) this.#busyAt = this.#now;
      }
      this.#now += 1;
    }
    const left = this.#seen.filter(({ isEnded }) => !isEnded);
    return {
      lost: left.filter(({ isPoison }) => !isPoison).map(({ id }) => id),
      atLarge: this.#isOver ? [] : left.filter(({ isPoison }) => isPoison).map(({ id }) => id),
      waited: [...this.#waited],
      deaths: this.#deaths,
      endedAt: this.#now,
      latest: this.#latest,
    };
  }

  /** All that may come has come, and for longer than a lease nothing was in hand: what is left is set aside. */
  get #isOver(): boolean {
    return this.#now > ACTED && this.#now > this.#busyAt + 2 * LEASE;
  }

  async #act(process: Process): Promise<void> {
    const acts = this.#life.acts.filter(({ at, process: nth }) => at === this.#now && nth === process.nth);
    for (const { what, rest } of acts) {
      if (process.standsAt > this.#now) continue;
      if (what === "killed") this.#kill(process, rest);
      else if (what === "frozen") {
        this.#blow(process);
        process.standsAt = this.#now + LEASE + rest;
      } else {
        for (const run of process.runs.splice(0)) await this.#giveBack(run, what === "fails");
      }
    }
  }

  async #giveBack(run: Run, failed: boolean): Promise<void> {
    const seen = this.#of(run);
    const isBack = await this.#shared.release(run, { at: this.#now * 1000, failed });
    if (isBack) {
      seen.heldUntil = this.#now;
      seen.dueAt = this.#now;
    }
  }

  #blow({ runs }: Process): void {
    for (const run of runs) this.#of(run).blows += 1;
  }

  #kill(process: Process, rest: number): void {
    this.#blow(process);
    this.#deaths += 1;
    process.runs = [];
    process.standsAt = this.#now + rest;
    process.name = `p${process.nth}.${this.#now + 1}`;
  }

  async #live(process: Process): Promise<void> {
    if (this.#now % BEAT === process.nth % BEAT && process.runs.length > 0) await this.#beat(process);
    await this.#claim(process);
    for (const run of [...process.runs]) {
      const { lasts, isPoison } = this.#of(run);
      if (run.since + lasts > this.#now) continue;
      if (isPoison) {
        this.#kill(process, 1);
        return;
      }
      await this.#end(process, run);
    }
  }

  async #beat(process: Process): Promise<void> {
    const by = { holder: process.name, now: this.#now * 1000, leaseMs: LEASE * 1000 };
    const lost = await this.#shared.heartbeat(
      process.runs.map(({ id, token }) => ({ id, token })),
      by,
    );
    process.runs = process.runs.filter(({ id }) => !lost.includes(id));
    for (const run of process.runs) this.#of(run).heldUntil = this.#now + LEASE;
  }

  async #end(process: Process, run: Run): Promise<void> {
    process.runs = process.runs.filter((each) => each !== run);
    const isEnded = await this.#shared.end({ id: run.id, token: run.token });
    if (!isEnded) return;
    const seen = this.#of(run);
    seen.isEnded = true;
    seen.heldUntil = 0;
    this.#latest = Math.max(this.#latest, this.#now - seen.at);
  }

  async #claim(process: Process): Promise<void> {
    const { places } = this.#life;
    const used = (queue: Queue): number => process.runs.filter((run) => this.#of(run).queue === queue).length;
    const free = { steps: Math.max(0, places - used("steps")), free: Math.max(0, places - used("free")) };
    const given = await this.#shared.claim({
      holder: process.name,
      now: this.#now * 1000,
      leaseMs: LEASE * 1000,
      maxCrashes: this.#maxCrashes,
      places: free,
    });
    const taken = new Set(given.map(({ id }) => id));
    for (const queue of ["steps", "free"] as const) {
      const got = given.filter((each) => this.#of(each).queue === queue).length;
      if (got >= free[queue]) continue;
      for (const seen of this.#seen) {
        if (seen.queue !== queue || taken.has(seen.id) || !this.#isAnyones(seen)) continue;
        this.#waited.add(`${seen.id} at ${this.#now}`);
      }
    }
    for (const { id, token } of given) {
      this.#of({ id }).heldUntil = this.#now + LEASE;
      process.runs = process.runs.filter((run) => run.id !== id);
      process.runs.push({ id, token, since: this.#now });
    }
  }

  /** Due, in nobody's hand, and at fewer than two deaths in anybody's: it has nothing to wait for. */
  #isAnyones({ isEnded, blows, dueAt, heldUntil }: Seen): boolean {
    return !isEnded && blows < 2 && dueAt <= this.#now && heldUntil <= this.#now;
  }

  #of({ id }: Pick<Given, "id">): Seen {
    const seen = this.#seen.find((each) => each.id === id);
    if (seen === undefined) throw new Error(`there is no task ${id}`);
    return seen;
  }
}
