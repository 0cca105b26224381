/** What happens in a chaos run, all drawn from one seed: who is killed how, what customers order, when the database goes. */
import fc from "fast-check";

/** What befalls the processes, and where, unless the command names it: the databases and the numbers of processes. */
export const FORMS = {
  /** They are killed after lives that are drawn. */
  drawn: { databases: "sqlite,postgres", processes: "1,2,4" },
  /** One of them is killed each second. */
  "each-second": { databases: "sqlite,postgres", processes: "4" },
  /** As drawn, while their clocks are put. */
  "stepped-clocks": { databases: "sqlite,postgres", processes: "2" },
  /** As drawn, where the disk fills up now and then. */
  "full-disk": { databases: "sqlite", processes: "2" },
  /** As drawn, and the first outage is that of a primary whose standby takes over. */
  failover: { databases: "postgres", processes: "2" },
  /** As drawn, and the outages are those of a file that is another for some seconds. */
  "replaced-file": { databases: "sqlite", processes: "2" },
} as const;

/**
 * How a standby takes over: it had all that was acknowledged, or not what came last; it takes writes only some seconds later; or
 * the connections to the primary stay open, and nothing passes on them.
 */
const FAILOVERS = ["synchronous", "asynchronous", "slow promotion", "vanished host"] as const;
export type FailoverKind = (typeof FAILOVERS)[number];

/** What becomes of the file. */
const REPLACEMENTS = ["deleted", "older copy", "cut"] as const;
export type ReplacementKind = (typeof REPLACEMENTS)[number];

/** The name of a form. */
export type ChaosForm = keyof typeof FORMS;

export const isForm = (name: string): name is ChaosForm => Object.hasOwn(FORMS, name);

/** One run. */
export interface ChaosSettings {
  readonly form: ChaosForm;
  readonly database: "sqlite" | "postgres";
  /** How many processes of the service work side by side. */
  readonly processes: number;
  /** How many of them are killed under load. */
  readonly kills: number;
  readonly seed: number;
}

/** The life and end of one process. */
export interface Life {
  /** Where it is killed: still starting, at work, frozen for longer than its leases, or soon after it woke from that. */
  readonly dies: "starting" | "working" | "frozen" | "woken";
  /** How many answers and deliveries it lives to see, once it takes requests: its own and those of others. */
  readonly happenings: number;
  /** How long it is given to start, where it is killed meanwhile. */
  readonly startsMs: number;
  readonly frozenMs: number;
}

/** What a customer wants. */
export interface Wish {
  readonly mode: "wallet" | "private";
  /** Millionths of a USDC for each recipient. */
  readonly shares: readonly number[];
  /** Taken back at once, before any money came. */
  readonly isCancelled: boolean;
  /** Of a private order: the sum comes at once, in two parts, or with something on top. */
  readonly pays: "at once" | "in parts" | "too much";
  /** Of a private order: raw units that come to its address when everything is over. */
  readonly late: number;
  /** Every POST is made twice at the same moment. */
  readonly isImpatient: boolean;
}

/** Everything that was drawn. */
export interface ChaosPlan {
  readonly lives: readonly Life[];
  /** More than are ever lived, while the clocks are turned. */
  readonly laterLives: readonly Life[];
  /** More than are ever granted. */
  readonly wishes: readonly Wish[];
  /** The database server is killed, or the disk of the file is full, when so many processes have been killed. */
  readonly outages: readonly number[];
  /** Of the form `failover`. */
  readonly failover: FailoverKind;
  /** Of the form `replaced-file`. */
  readonly replacement: ReplacementKind;
}

const life = fc.record<Life>({
  dies: fc.oneof(
    { weight: 6, arbitrary: fc.constant("working" as const) },
    { weight: 2, arbitrary: fc.constant("starting" as const) },
    { weight: 1, arbitrary: fc.constant("frozen" as const) },
    { weight: 1, arbitrary: fc.constant("woken" as const) },
  ),
  happenings: fc.integer({ min: 0, max: 24 }),
  startsMs: fc.integer({ min: 10, max: 2_000 }),
  frozenMs: fc.integer({ min: 1_200, max: 2_500 }),
});

/** Too little to be sent back: it counts as a deposit, and a refund costs more. */
export const CRUMBS = 2_000;
const LATE_PAYMENT = 2_000_000;

/** As many payees as one transaction of a wallet pays in any case. */
const MAX_PAYEES = { wallet: 3, private: 8 } as const;

const sharesOf = (mode: Wish["mode"]): fc.Arbitrary<readonly number[]> =>
  fc.array(fc.integer({ min: 100_000, max: 3_000_000 }), { minLength: 1, maxLength: MAX_PAYEES[mode] });

const order = fc
  .constantFrom<Wish["mode"][]>("wallet", "private")
  .chain((mode) => fc.record({ mode: fc.constant(mode), shares: sharesOf(mode) }));

const manner = fc.record<Omit<Wish, "mode" | "shares">>({
  isCancelled: fc.integer({ min: 0, max: 7 }).map((drawn) => drawn === 0),
  pays: fc.constantFrom("at once", "at once", "in parts", "too much"),
  late: fc.constantFrom(0, CRUMBS, LATE_PAYMENT),
  isImpatient: fc.boolean(),
});

const wish = fc.tuple(order, manner).map(([what, how]): Wish => ({ ...what, ...how }));

/** Draws other lives than those before. */
const LATER = 1;
const MANY = 5_000;
const OUTAGES = 2;

export function planOf({ kills, seed }: Pick<ChaosSettings, "kills" | "seed">): ChaosPlan {
  const [lives = []] = fc.sample(fc.array(life, { minLength: kills, maxLength: kills, size: "max" }), {
    seed,
    numRuns: 1,
  });
  const [failover = "synchronous"] = fc.sample(fc.constantFrom(...FAILOVERS), { seed, numRuns: 1 });
  const [replacement = "deleted"] = fc.sample(fc.constantFrom(...REPLACEMENTS), { seed, numRuns: 1 });
  return {
    lives,
    laterLives: fc.sample(life, { seed: seed ^ LATER, numRuns: MANY }),
    wishes: fc.sample(wish, { seed, numRuns: MANY }),
    outages: fc.sample(fc.integer({ min: 1, max: Math.max(1, kills - 1) }), { seed, numRuns: OUTAGES }),
    failover,
    replacement,
  };
}

/** What repeats a run: the same deaths, wishes and faults, though not the same moments. */
export const commandOf = ({ form, seed, database, processes, kills }: ChaosSettings): string =>
  `npm run chaos -- --form ${form} --seed ${seed} --database ${database} --processes ${processes} --kills ${kills}`;
