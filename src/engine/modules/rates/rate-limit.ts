/**
 * Starts under a rate. A run commits its start to the row of its key before its handler is called. So the rate holds over all
 * processes, and a run whose process ended between the two has counted.
 */
import { commitOne } from "../../../../storage/decided.ts";
import type { AnyWrite, EngineStorage } from "../../../../storage/storage.ts";
import { column, ownTable, type Row } from "../../../../storage/table.ts";
import { elapsed, type Clock } from "../../../core/runtime.ts";
import type { EngineContext } from "../../kernel/engine-context.ts";
import { TaskWaitsError } from "../../kernel/held-task-list.ts";
import type { TaskRate } from "../../../workflow/rate-option.ts";

const STARTS = "paystateStarts";

/** The numbers that `engine.setLimit` has set for a key. */
export interface KeyLimit {
  /** How many run at a time, over all processes; 0 pauses the key. Absent: what the limits of the tasks say. */
  readonly atMost?: number;
  /** Absent: what the limits of the tasks say. */
  readonly rate?: TaskRate;
}

/** A row for each key that has a rate, or was overridden. The table is made with the first run that has a limit. */
export const storedStarts = ownTable(STARTS, {
  columns: {
    id: "text",
    // Counts the commits of the row: a start is refused where another came first.
    version: "integer",
    // When the last runs began at the latest, in order, in milliseconds since the Unix epoch.
    starts: column<readonly number[]>("json"),
    override: column<KeyLimit | null>("json?"),
  },
  indexes: { overridden: { on: ["id"], present: ["override"] } },
});

type StartsRow = Row<typeof storedStarts>;

/** The rate of a key; null where its tasks have none of their own. */
export interface KeyRate {
  readonly key: string;
  readonly rate: TaskRate | null;
}

/** A run that waits for the commit of its start. */
interface Starting {
  readonly begin: () => void;
  readonly fail: (error: unknown) => void;
}

/** Keys that have a rate by an override, as they were read. */
interface OverriddenKeys {
  /** By the elapsed time of the clock, in milliseconds. */
  readonly until: number;
  readonly keys: Promise<ReadonlySet<string>>;
}

/** Starts that a commit holds. */
interface Placed {
  readonly at: number;
  readonly count: number;
}

/** A run never begins so much later than it asked; what is later still was stored before the clock was set back. */
const MAX_AHEAD_MS = 5_000;
/** After so long a key whose tasks have no rate is asked again whether `setLimit` has given it one. */
const OVERRIDES_FOR_MS = 1_000;

export class RateLimit {
  readonly #storage: EngineStorage;
  readonly #clock: Clock;
  /** Runs by their rates: those that ask while a commit is under way share the next. */
  readonly #asking = new Map<string, Starting[]>();
  /** How long after it asked a run begins at the latest, as commits take at present. */
  #aheadMs = 0;
  #overridden: OverriddenKeys = { until: -Infinity, keys: Promise.resolve(new Set()) };

  constructor({ storage, clock }: Pick<EngineContext, "storage" | "clock">) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Resolves when the start of a run is durable, or no key has a rate. Rejects with `TaskWaitsError` where one is full. */
  async take(limits: readonly KeyRate[]): Promise<void> {
    const rates = await this.#rated(limits);
    if (rates.length === 0) return;
    const name = JSON.stringify(rates);
    await new Promise<void>((begin, fail) => {
      const asking = this.#asking.get(name);
      if (asking !== undefined) return void asking.push({ begin, fail });
      const first = [{ begin, fail }];
      this.#asking.set(name, first);
      void this.#work(name, rates, first);
    });
  }

  /** Limits with a rate of their own, or with a rate by the override of their key alone. */
  async #rated(limits: readonly KeyRate[]): Promise<readonly KeyRate[]> {
    if (limits.every(({ rate }) => rate !== null)) return limits;
    const overridden = await this.#overriddenKeys();
    return limits.filter(({ key, rate }) => rate !== null || overridden.has(key));
  }

  #overriddenKeys(): Promise<ReadonlySet<string>> {
    const at = elapsed(this.#clock);
    if (at >= this.#overridden.until) {
      const keys = this.#storage
        .find({ table: storedStarts, index: "overridden" })
        .then(
          (rows) => new Set(rows.flatMap(({ id, override }) => (override?.rate === undefined ? [] : [id]))),
        );
      this.#overridden = { until: at + OVERRIDES_FOR_MS, keys };
      keys.catch(() => {
        this.#overridden = { until: -Infinity, keys };
      });
    }
    return this.#overridden.keys;
  }

  async #work(name: string, rates: readonly KeyRate[], asking: Starting[]): Promise<void> {
    while (asking.length > 0) {
      const together = asking.splice(0);
      try {
        await this.#startTogether(rates, together);
      } catch (error) {
        for (const { fail } of together) fail(error);
      }
    }
    this.#asking.delete(name);
  }

  async #startTogether(rates: readonly KeyRate[], together: readonly Starting[]): Promise<void> {
    let placed: Placed = { at: 0, count: 0 };
    for (;;) {
      const rows = await Promise.all(rates.map(({ key }) => this.#row(key)));
      // Behind the rows: starts that lie ahead of it are of a clock that was set back, and not of a process that was frozen.
      const asked = elapsed(this.#clock);
      const now = await this.#now();
      const ledgers = rates.flatMap((rate, index) =>
        ledgerOf(rate, { row: rows[index] ?? null, now, placed }),
      );
      const count = Math.min(together.length, ...ledgers.map((ledger) => ledger.room));
      const next = { at: now + this.#aheadMs, count };
      const isToStore = (count > 0 && ledgers.length > 0) || ledgers.some(({ wasSetBack }) => wasSetBack);
      if (isToStore && !(await this.#isStored(ledgers, next))) continue;
      const tookMs = elapsed(this.#clock) - asked;
      const isLate = isToStore && count > 0 && tookMs > this.#aheadMs;
      this.#aheadMs = Math.min(MAX_AHEAD_MS, Math.ceil(Math.max(2 * tookMs, 0.9 * this.#aheadMs)));
      // It has begun later than its row says, and the row is put right first.
      placed = next;
      if (isLate && tookMs < MAX_AHEAD_MS) continue;
      // A database that is slower still stores no start of a run: none does.
      const begun = isLate ? 0 : count;
      for (const [index, { begin, fail }] of together.entries()) {
        if (index < begun) begin();
        else fail(new TaskWaitsError(longest(ledgers.map((ledger) => ledger.wait(count, index - begun)))));
      }
      return;
    }
  }

  /** The time by which starts are counted: the database's where it has a clock of its own. */
  async #now(): Promise<number> {
    const now = this.#clock.now();
    return (await this.#storage.time?.(now)) ?? now;
  }

  async #row(key: string): Promise<StartsRow | null> {
    const [row = null] = await this.#storage.find<StartsRow>({ table: storedStarts, key });
    return row;
  }

  async #isStored(ledgers: readonly StartLedger[], next: Placed): Promise<boolean> {
    return (await commitOne(this.#storage, { writes: ledgers.map((ledger) => ledger.write(next)) })).ok;
  }
}

/** The rate of a key is full. Its tasks keep their places until then, unless `setLimit` has changed how many have one. */
type RateWait = Pick<TaskWaitsError, "key" | "waitMs" | "keepsRoom">;

const longest = (waits: readonly RateWait[]): RateWait =>
  waits.reduce((most, wait) => (wait.waitMs > most.waitMs ? wait : most), {
    key: "",
    waitMs: 0,
    keepsRoom: true,
  });

interface LedgerParts {
  readonly key: string;
  readonly rate: TaskRate;
  readonly row: StartsRow | null;
  readonly now: number;
  /** Own starts, which are placed anew. */
  readonly placed: Placed;
}

/** Empty if the key has no rate at present. An override of it is read with the row that it changes: see `write`. */
function ledgerOf({ key, rate: own }: KeyRate, read: Omit<LedgerParts, "key" | "rate">): StartLedger[] {
  const rate = read.row?.override?.rate ?? own;
  return rate === null ? [] : [new StartLedger({ ...read, key, rate })];
}

/** The starts of a key as they were read. */
class StartLedger {
  readonly #parts: LedgerParts;
  readonly #starts: readonly number[];
  /** Whether the clock was set back since: starts that lie ahead have begun now, which is stored, or they would for ever. */
  readonly wasSetBack: boolean;

  constructor(parts: LedgerParts) {
    const { row, now, placed } = parts;
    this.#parts = parts;
    const stored = row?.starts ?? [];
    this.wasSetBack = stored.some((at) => at > now + MAX_AHEAD_MS);
    const known = stored.map((at) => (at > now + MAX_AHEAD_MS ? now : at));
    const own = known.indexOf(placed.at);
    this.#starts = own < 0 ? known : known.toSpliced(own, placed.count);
  }

  get room(): number {
    const { rate, row, now } = this.#parts;
    // It had its place before the key was paused.
    if (row?.override?.atMost === 0) return 0;
    // A rate that was lowered may have begun more than it allows now.
    return Math.max(0, rate.count - this.#starts.filter((at) => at > now - rate.perMs).length);
  }

  /** How long the run in this place waits, behind those that begin now. */
  wait(begun: number, place: number): RateWait {
    const { key, rate, row, now } = this.#parts;
    const all = [...this.#starts, ...Array<number>(begun).fill(now)];
    // It begins when one of the last starts is over, or when one is that begins then: those behind it do not ask before.
    const before = all[all.length - rate.count + (place % rate.count)] ?? now;
    const spans = 1 + Math.floor(place / rate.count);
    const keepsRoom = row?.override?.atMost === undefined;
    return { key, waitMs: Math.max(1, before + spans * rate.perMs - now), keepsRoom };
  }

  /** The row with these starts, and as many before them as any rate of the key has counted. */
  write({ at, count }: Placed): AnyWrite {
    const { key, rate, row } = this.#parts;
    const kept = Math.max(rate.count, row?.starts.length ?? 0);
    const starts = [...this.#starts, ...Array<number>(count).fill(at)].toSorted((a, b) => a - b).slice(-kept);
    return row === null
      ? { table: STARTS, insert: { id: key, version: 1, starts, override: null } }
      : { table: STARTS, id: key, set: { starts }, expectedVersion: row.version };
  }
}
