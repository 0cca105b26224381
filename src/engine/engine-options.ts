/** Options of an engine, and their checks. */
import { z } from "zod";
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyTable, TableSet } from "../../storage/table.ts";
import { durationOption, type Duration } from "../duration.ts";
import { checkOptions, functionOption, objectWith, runtimeOptions } from "../options.ts";
import type { Clock, Logger, Random } from "../runtime.ts";
import type { Archive } from "./retention/archiving.ts";
import type { ArchivedInstance } from "./retention/retention.ts";
import type { InspectListener } from "./inspection-feed.ts";
import type { Watcher } from "./watcher.ts";
import { workflowKey } from "../workflow/workflow-key.ts";
import { isWorkflow, type AnyWorkflow } from "../workflow/workflow.ts";

/** Options of `createEngine`. */
export interface EngineOptions<W> {
  /** The storage of all instances. The engine does not close the storage. */
  readonly storage: EngineStorage;
  /** Tables of your own, as `{ orders }` for `defineTable("orders", …)`. The first commit installs or migrates them, or rejects. */
  readonly tables?: TableSet<W>;
  /** The workflows whose instances this process may run; two versions of one chart may stand side by side. */
  readonly workflows: readonly AnyWorkflow[];
  /** The watchers, which poll watched things, by watch kind. */
  readonly watchers?: Readonly<Record<string, Watcher>>;
  /** Default: the machine's own clock. */
  readonly clock?: Clock;
  /** Default: the operating system's. Names this process among the holders of leases, and makes stamps of steps unlike all others. */
  readonly random?: Random;
  /** Default: warnings and errors go to stderr, the rest nowhere. */
  readonly logger?: Logger;
  /** Effects and promises without limits in hand at once; as many timers and messages have places of their own. Default 64. */
  readonly slots?: number;
  /** Effects and invocations with limits in hand at once. Default 128. */
  readonly limitedSlots?: number;
  /** How long a vanished process holds up its tasks; heartbeats go out at a third of this time. Default 15,000 ms. */
  readonly leaseMs?: number;
  /** The pause between looks for tasks that other processes made due; one read each time. Default 1,500 ms. */
  readonly pollMs?: number;
  /**
   * A task whose holders vanished this often in a row is a dead letter. With 1, every task that a vanished process held
   * becomes a dead letter at once, even a task that had not begun. Default 5.
   */
  readonly maxCrashes?: number;
  /** How long ended instances are kept: an hour at least, and as long as another instance needs them. Default: forever. */
  readonly keep?: { readonly finished: Duration };
  /**
   * Gets the instances about to be removed, at least once each, and must have put them somewhere when it resolves. While it
   * throws, or takes longer than a minute, nothing is removed: logged once, and shown by `retention()`. Default: they are gone.
   */
  readonly archive?: Archive<ArchivedInstance>;
  /**
   * Told of each step that this process has committed, in XState's inspection events: `inspect` of an inspector of
   * `@statelyai/inspect`. Contexts and events go there as they are, secrets included. Default: none.
   */
  readonly inspect?: InspectListener;
}

/** The options of a worker, with their defaults. */
export type WorkerLimits = Required<
  Pick<EngineOptions<never>, "slots" | "limitedSlots" | "pollMs" | "maxCrashes">
>;

const count = (most: number): z.ZodNumber => z.number().int().min(1).max(most);

/** From an hour to a hundred years. */
const KEEP_RANGE = { least: 3_600_000, most: 36_500 * 86_400_000 };

const optionsSchema = z
  .strictObject({
    storage: objectWith<object>(
      ["commit", "claim", "install"],
      "a storage, such as memoryStorage() or sqliteStorage(path)",
    ),
    tables: z.record(z.string(), z.custom<AnyTable>()).superRefine(checkTables).optional(),
    workflows: z.array(z.custom<AnyWorkflow>(isWorkflow, { error: "expected what workflow() returns" })),
    watchers: z
      .record(
        z.string(),
        z.object({
          intervalMs: z.number().int().min(1),
          batchSize: z.number().int().min(1).max(10_000).optional(),
          poll: functionOption(),
        }),
      )
      .optional(),
    ...runtimeOptions,
    slots: count(10_000).default(64),
    limitedSlots: count(10_000).default(128),
    leaseMs: z.number().int().min(1_000).max(3_600_000).default(15_000),
    pollMs: z.number().int().min(10).max(60_000).default(1_500),
    maxCrashes: count(1_000).default(5),
    keep: z.strictObject({ finished: durationOption(KEEP_RANGE) }).optional(),
    archive: functionOption<Archive<ArchivedInstance>>().optional(),
    inspect: z
      .custom<InspectListener>(
        (value) =>
          typeof value === "function" || typeof (value as { next?: unknown } | null)?.next === "function",
        { error: "expected a function, or what an inspector of XState has as `inspect`" },
      )
      .optional(),
  })
  .superRefine(checkWorkflows)
  .refine(({ keep, archive }) => archive === undefined || keep !== undefined, {
    path: ["archive"],
    error: 'nothing is archived without keep: say how long, such as keep: { finished: "90d" }',
  });

/** The options with every default filled in. Throws `InvalidOptions` listing every wrong one. */
export function checkEngineOptions<W>(options: EngineOptions<W>): Readonly<z.output<typeof optionsSchema>> {
  return checkOptions("createEngine", optionsSchema, options);
}

function checkTables(tables: Readonly<Record<string, unknown>>, context: z.RefinementCtx): void {
  for (const [name, table] of Object.entries(tables)) {
    const given = (table as Partial<AnyTable> | null)?.name;
    if (given === name) continue;
    const message =
      given === undefined
        ? "expected what defineTable() returns"
        : `holds the table ${given}: each table stands under its own name`;
    context.addIssue({ code: "custom", path: [name], message });
  }
}

interface WatchedWorkflows {
  readonly storage: object;
  readonly workflows: readonly AnyWorkflow[];
  readonly watchers?: Readonly<Record<string, unknown>> | undefined;
}

function checkWorkflows({ storage, workflows, watchers }: WatchedWorkflows, context: z.RefinementCtx): void {
  const keys = workflows.map(({ key }) => key);
  const problem = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: "custom", path, message });
  workflows.forEach(({ key, name, migrations, watches, effects }, index) => {
    if (keys.indexOf(key) < index) problem(["workflows", index], `${key} is registered twice`);
    if (name.startsWith("paystate.")) {
      problem(["workflows", index], `${key}: names that begin with paystate. are the engine's own`);
    }
    for (const older of [...migrations.keys()].map((from) => workflowKey(name, from))) {
      if (!keys.includes(older)) continue;
      const both = `${key} migrates instances of ${older}, which is registered beside it: leave out one of the two`;
      problem(["workflows", index], both);
    }
    for (const [effect, handler] of effects) {
      if ("transact" in storage || typeof handler === "function" || !("transact" in handler)) continue;
      problem(
        ["storage"],
        `${key} does ${effect} in a transaction, which postgresStorage() has: take that, or give it \`run\``,
      );
    }
    for (const kind of Object.keys(watches)) {
      if (watchers?.[kind] !== undefined) continue;
      problem(["watchers", kind], `${key} watches it, no watcher polls it`);
    }
  });
}
