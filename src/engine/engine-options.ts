/** Options of an engine, and their checks. */
import { z } from "zod";
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyTable, TableSet } from "../../storage/table.ts";
import { checkOptions, objectWith, runtimeOptions } from "../core/options.ts";
import type { Clock, Logger, Random } from "../core/runtime.ts";
import type { InspectListener } from "./inspection-feed.ts";
import { MODULE_OPTIONS, OPTION_CHECKS, type ModuleOptions } from "./module-options.ts";
import { MAX_VALUE_BYTES } from "../workflow/value-size.ts";
import { workflowKey } from "../workflow/workflow-key.ts";
import { isWorkflow, type AnyWorkflow } from "../workflow/workflow.ts";

/** Options of `createEngine`. */
export interface EngineOptions<W> extends ModuleOptions {
  /** The storage of all instances. The engine does not close the storage. */
  readonly storage: EngineStorage;
  /** Tables of your own, as `{ orders }` for `defineTable("orders", …)`. The first commit installs or migrates them, or rejects. */
  readonly tables?: TableSet<W>;
  /** The workflows whose instances this process may run; two versions of one chart may stand side by side. */
  readonly workflows: readonly AnyWorkflow[];
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
   * A task against which so many deaths of its processes are counted is a dead letter. The first death is counted against none,
   * a later one only where no other suspect was in hand. Default 5.
   */
  readonly maxCrashes?: number;
  /**
   * The largest size of a snapshot (context and output) and of an event as JSON, in bytes. A step over it is refused with the
   * path of the largest part; from 256,000 bytes on the logger warns. Default 8,000,000.
   */
  readonly maxValueBytes?: number;
  /**
   * Told of each step that this process has committed, in XState's inspection events: `inspect` of an inspector of
   * `@statelyai/inspect`. Contexts and events go there as they are, secrets included. Default: none.
   */
  readonly inspect?: InspectListener;
}

const count = (most: number): z.ZodNumber => z.number().int().min(1).max(most);

const optionsSchema = z
  .strictObject({
    storage: objectWith<object>(
      ["commit", "claim", "install"],
      "a storage, such as await sqliteStorage(path)",
    ),
    tables: z.record(z.string(), z.custom<AnyTable>()).superRefine(checkTables).optional(),
    workflows: z.array(z.custom<AnyWorkflow>(isWorkflow, { error: "expected what workflow() returns" })),
    ...runtimeOptions,
    slots: count(10_000).default(64),
    limitedSlots: count(10_000).default(128),
    leaseMs: z.number().int().min(1_000).max(3_600_000).default(15_000),
    pollMs: z.number().int().min(10).max(60_000).default(1_500),
    maxCrashes: count(1_000).default(5),
    maxValueBytes: z.number().int().min(10_000).max(100_000_000).default(MAX_VALUE_BYTES),
    ...MODULE_OPTIONS,
    inspect: z
      .custom<InspectListener>(
        (value) =>
          typeof value === "function" || typeof (value as { next?: unknown } | null)?.next === "function",
        { error: "expected a function, or what an inspector of XState has as `inspect`" },
      )
      .optional(),
  })
  .superRefine(checkWorkflows)
  .superRefine((options, context) => {
    for (const check of OPTION_CHECKS) check(options, context);
  });

/** Options with every default filled in. */
export type CheckedEngineOptions = Readonly<z.output<typeof optionsSchema>>;

/** The options with every default filled in. Throws `InvalidOptions` listing every wrong one. */
export function checkEngineOptions<W>(options: EngineOptions<W>): CheckedEngineOptions {
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

interface GivenWorkflows {
  readonly workflows: readonly AnyWorkflow[];
}

function checkWorkflows({ workflows }: GivenWorkflows, context: z.RefinementCtx): void {
  const keys = workflows.map(({ key }) => key);
  const problem = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: "custom", path, message });
  workflows.forEach(({ key, name, migrations }, index) => {
    if (keys.indexOf(key) < index) problem(["workflows", index], `${key} is registered twice`);
    if (name.startsWith("paystate.")) {
      problem(["workflows", index], `${key}: names that begin with paystate. are the engine's own`);
    }
    for (const older of [...migrations.keys()].map((from) => workflowKey(name, from))) {
      if (!keys.includes(older)) continue;
      const both = `${key} migrates instances of ${older}, which is registered beside it: leave out one of the two`;
      problem(["workflows", index], both);
    }
  });
}
