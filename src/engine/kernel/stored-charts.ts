/** Refuses a chart that was edited under an unchanged version, with an explanation. */
import { commitEach } from "../../../storage/decided.ts";
import { ownTable } from "../../../storage/table.ts";
import type { AnyWrite, EngineStorage, InstanceRecord } from "../../../storage/storage.ts";
import type { EngineContext } from "./engine-context.ts";
import { ChangedChart, type WorkflowRegistry } from "../../workflow/workflow-registry.ts";
import { withChildren, type AnyWorkflow } from "../../workflow/workflow.ts";
import { chartDifferences } from "../../workflow/xstate/chart-differences.ts";

const TABLE = "paystateCharts";

/** A row for each workflow and version, written at its first registration on the storage. */
export const storedCharts = ownTable(TABLE, {
  // `id` is `name@version`; `chart` is what `chartText` says, and `hash` is the hash of it.
  columns: { id: "text", version: "integer", hash: "text", chart: "text" },
});

type StoredChart = NonNullable<(typeof storedCharts)["row"]>;

// A race is lost to a process that has stored its own chart in between, once for each of them.
const MAX_TRIES = 100;
const PAGE = 200;

/** Rows of other tables that are written beside the stored charts. */
export interface ChartRows {
  /** For the commit that registers a version of a workflow for the first time. */
  first(workflow: AnyWorkflow): readonly AnyWrite[];
  /** Each as a commit of its own, whenever a process registers its workflows. */
  again(
    storage: Pick<EngineStorage, "find">,
    workflows: readonly AnyWorkflow[],
  ): Promise<readonly AnyWrite[]>;
}

export class ChartCheck {
  /** Whether it has been done: from then on nothing has to be waited for. */
  isDone = false;
  readonly #process: Pick<EngineContext, "storage" | "log">;
  readonly #workflows: WorkflowRegistry;
  readonly #rows: readonly ChartRows[];
  #doing: Promise<void> | null = null;

  constructor(
    process: Pick<EngineContext, "storage" | "log">,
    workflows: WorkflowRegistry,
    rows: readonly ChartRows[],
  ) {
    this.#process = process;
    this.#workflows = workflows;
    this.#rows = rows;
  }

  /** Stores charts that are new, or of which nothing is open, and refuses others that have changed. Rejects when the storage does. */
  async check(): Promise<void> {
    try {
      await (this.#doing ??= this.#check());
    } finally {
      this.#doing = null;
    }
  }

  async #check(): Promise<void> {
    const { storage, log } = this.#process;
    const workflows = this.#workflows;
    for (let tried = 0; tried < MAX_TRIES; tried++) {
      const rows = await storage.find<StoredChart>({ table: storedCharts });
      const stored = new Map(rows.map((row) => [row.id, row]));
      const changed: ChangedChart[] = [];
      const all = workflows.units.flatMap(withChildren);
      const again = await Promise.all(this.#rows.map((each) => each.again(storage, all)));
      const commits: { readonly writes: readonly AnyWrite[] }[] = again
        .flat()
        .map((write) => ({ writes: [write] }));
      for (const workflow of all) {
        const { key, hash, chartText: chart } = workflow;
        const row = stored.get(key);
        if (row === undefined) {
          const insert = { id: key, version: 1, hash, chart };
          const beside = this.#rows.flatMap((each) => each.first(workflow));
          commits.push({ writes: [{ table: TABLE, insert }, ...beside] });
          continue;
        }
        if (row.hash === hash) continue;
        const open = await this.#openInstance(workflow);
        const set = { hash, chart };
        const { version: expectedVersion } = row;
        if (open === null) commits.push({ writes: [{ table: TABLE, id: key, set, expectedVersion }] });
        else changed.push(new ChangedChart(key, chartDifferences(row.chart, chart), open));
      }
      // Two processes that begin together store the same chart once; of different ones the second sees the first.
      if (commits.length > 0 && (await commitEach(storage, commits)).some(({ ok }) => !ok)) continue;
      for (const error of changed) {
        workflows.refuse(error);
        log.error({ workflow: error.workflow }, error.message);
      }
      this.isDone = true;
      return;
    }
    throw new Error(`the stored charts were changed by other processes ${MAX_TRIES} times in a row`);
  }

  /** The id of an instance that another chart of this version has left something to do for, or null. */
  async #openInstance({ key, hash }: AnyWorkflow): Promise<string | null> {
    const { storage } = this.#process;
    let page: readonly InstanceRecord[] = [];
    let isOwn = false;
    do {
      const after = page.at(-1)?.id ?? "";
      page = await storage.list({ order: "id", workflow: key, status: "active", after, limit: PAGE });
      const other = page.find((instance) => instance.hash !== hash);
      if (other !== undefined) return other.id;
      isOwn ||= page.length > 0;
    } while (page.length === PAGE);
    if (isOwn) return null;
    // The effects of ended instances are done by the chart that asked for them.
    const waiting = await storage.tasks({ order: "workflow" });
    return waiting.some(({ workflow }) => workflow === key)
      ? "one that has ended and has effects left"
      : null;
  }
}
