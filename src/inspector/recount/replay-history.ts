/**
 * Replays the recorded events of an instance through the pure chart, to get the effects and the state of each step.
 */
import type { HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import { ADDED_ROWS } from "../../workflow/added-fields.ts";
import {
  MIGRATED,
  type ChartAction,
  type ChartSnapshot,
  type FirstStep,
  type StepActor,
} from "../../workflow/chart.ts";
import { snapshotFromText, snapshotToText } from "../../workflow/snapshot-text.ts";
import { ownSnapshot } from "../../workflow/step-additions.ts";
import { eventFromText } from "../../workflow/values.ts";
import type { AnyWorkflow } from "../../workflow/workflow.ts";
import type { InspectedStorage } from "../../engine/inspected-engine.ts";

/** A recorded step, replayed by the chart that made it. */
export interface ReplayedStep {
  readonly version: number;
  readonly after: ChartSnapshot;
  /** Actions of the step, in the order of the chart. */
  readonly actions: readonly ChartAction[];
}

/** The steps of one version of the chart: from its first step to the migration that follows. */
export interface ChartPeriod {
  readonly first: number;
  /** The chart, as `name@version`. */
  readonly key: string;
}

/** Steps in a row that are not computed. */
export interface MissingPeriod {
  readonly first: number;
  readonly last: number;
  /** A sentence for a person to look into; null where the chart that made the steps is not registered here. */
  readonly problem: string | null;
}

/** A replayed history, and what is missing of it. */
export interface ReplayedHistory {
  /** Replayed steps, by version. */
  readonly steps: ReadonlyMap<number, ReplayedStep>;
  /** The charts that made the steps, oldest first. */
  readonly eras: readonly ChartPeriod[];
  /** Steps that are absent from `steps`, oldest first. */
  readonly gaps: readonly MissingPeriod[];
}

/** The registered chart of a key, where that is the one that the steps of an instance were made with. */
type ChartOf = (key: string, instance: Pick<InstanceRecord, "workflow" | "hash">) => AnyWorkflow | null;

/** The key of the chart that made a step; undefined where the history was not gone through. */
export function madeBy({ eras }: Pick<ReplayedHistory, "eras">, step: number): string | undefined {
  return eras.findLast(({ first }) => first <= step)?.key;
}

/** Why some steps are not computed, as a sentence. */
export function gapWords({ first, last, problem }: MissingPeriod, fold: ReplayedHistory): string {
  if (problem !== null) return problem;
  const steps = first === last ? `Step ${first} was` : `Steps ${first} to ${last} were`;
  const version = madeBy(fold, first) ?? "another version";
  return `${steps} made by the chart of ${version}, which is not registered in this process: the contexts are not computed again. What is recorded is shown.`;
}

/** Why a step is not computed; null where that is not known. */
export function whyMissing(fold: ReplayedHistory, step: number): string | null {
  const gap = fold.gaps.find(({ first, last }) => first <= step && step <= last);
  return gap === undefined ? null : gapWords(gap, fold);
}

const PAGE = 1_000;
const MAX_FOLDED = 20_000;
const MAX_KEPT = 30;
/** Characters of the snapshots of one instance: what is computed is kept in memory, and takes a few times as much. */
const MAX_WALKED = 8_000_000;
/** Characters of the snapshots of all that are kept. */
const MAX_TEXT = 4 * MAX_WALKED;

/** A replay of one instance. */
class Walk implements ReplayedHistory {
  readonly steps = new Map<number, ReplayedStep>();
  readonly eras: ChartPeriod[] = [];
  readonly gaps: MissingPeriod[] = [];
  version = 0;
  /** Characters of the snapshots that are kept. */
  size = 0;
  readonly #chartOf: (key: string) => AnyWorkflow | null;
  readonly #instance: Pick<InstanceRecord, "id" | "life">;
  #workflow: AnyWorkflow | null = null;
  #last: ChartSnapshot | null = null;
  /** True from a step that is not computed up to the next migration, whose snapshot is recorded whole. */
  #isBroken = false;

  /** `key` names the chart that made the first step. */
  constructor(
    instance: Pick<InstanceRecord, "id" | "life">,
    key: string,
    chartOf: (key: string) => AnyWorkflow | null,
  ) {
    this.#instance = instance;
    this.#chartOf = chartOf;
    this.#begin({ first: 1, key });
  }

  /** Whether the row is the next one, or the first of a history that begins with a whole snapshot. */
  takes(row: HistoryRecord): boolean {
    return row.version === this.version + 1 || (this.version === 0 && snapshotOf(row) !== null);
  }

  take(row: HistoryRecord): void {
    this.version = row.version;
    // Its snapshot is recorded whole, whatever is known of the steps before.
    if (this.#isBroken && snapshotOf(row) !== null) [this.#last, this.#isBroken] = [null, false];
    const moved = migrationOf(row);
    if (moved !== null) this.#begin({ first: row.version, key: moved.to });
    // The result of a migration is recorded whole, whatever made the next step.
    if (this.#isBroken || (this.#workflow === null && moved === null)) return this.#miss(row.version, null);
    try {
      const problem = this.#step(row);
      if (problem !== null) this.#miss(row.version, problem);
    } catch {
      this.#miss(
        row.version,
        `Step ${row.version} cannot be computed again: the chart that is registered here refuses its event.`,
      );
    }
  }

  #begin(era: ChartPeriod): void {
    this.eras.push(era);
    this.#workflow = this.#chartOf(era.key);
    this.#last = null;
    this.#isBroken = false;
  }

  #miss(version: number, problem: string | null): void {
    const open = this.gaps.at(-1);
    if (this.#isBroken && open !== undefined) this.gaps[this.gaps.length - 1] = { ...open, last: version };
    else this.gaps.push({ first: version, last: version, problem });
    this.#isBroken = true;
  }

  /** Keeps the step, or returns why it is not computed. */
  #step({ version, stamp, event: text, value }: HistoryRecord): string | null {
    const event = eventFromText(text);
    if (event.type === MIGRATED) {
      const { snapshot } = event as unknown as { readonly snapshot: ChartSnapshot };
      this.#keep(version, { after: snapshot, actions: [] });
      return null;
    }
    const before = this.#last;
    const folded = snapshotOf({ event: text });
    if (folded !== null) {
      const [led, recorded] = [before ?? folded, folded].map((each) => snapshotToText(ownSnapshot(each)));
      if (led !== recorded) return differs(version);
      this.#keep(version, { after: folded, actions: [] });
      return null;
    }
    if (event.type !== "$started" && before === null) {
      return `Step ${version} cannot be computed again: what stood before it cannot be read.`;
    }
    const workflow = this.#workflow;
    if (workflow === null) return differs(version);
    const { id: instance, life } = this.#instance;
    const actor: StepActor = { instance, life, stamp, workflow };
    const { input, ...first } = event as unknown as Started;
    const step =
      before === null
        ? workflow.chart.start(input, first, actor)
        : workflow.chart.step(this.#copyOf(before), event, { actor });
    if (step === null) return differs(version);
    if (JSON.stringify(step.after.value) !== value) return differs(version);
    if (this.size > MAX_WALKED) {
      return `From step ${version} on the contexts are not computed: those of the steps before fill the memory that is set aside for it.`;
    }
    this.#keep(version, step);
    return null;
  }

  #keep(version: number, { after, actions }: Omit<ReplayedStep, "version">): void {
    this.#last = after;
    this.steps.set(version, { version, after, actions });
  }

  /** A chart that changes its context in place must not change the steps before. */
  #copyOf(snapshot: ChartSnapshot): ChartSnapshot {
    const text = snapshotToText(snapshot);
    this.size += text.length;
    return snapshotFromText(text);
  }
}

/** The charts before and after a migration; null for any other step. */
function migrationOf({ event }: HistoryRecord): { readonly from: string; readonly to: string } | null {
  // A history has thousands of rows, and few of them are read twice.
  if (!event.includes(MIGRATED)) return null;
  const { type, from, to } = JSON.parse(event) as Readonly<Record<string, unknown>>;
  return type === MIGRATED && typeof from === "string" && typeof to === "string" ? { from, to } : null;
}

/** The snapshot of a row that stands for the steps before it; null for any other row. */
function snapshotOf({ event }: Pick<HistoryRecord, "event">): ChartSnapshot | null {
  if (!ADDED_ROWS.some((type) => event.includes(type))) return null;
  const { type, snapshot } = eventFromText(event) as unknown as {
    readonly type: string;
    readonly snapshot: ChartSnapshot;
  };
  return ADDED_ROWS.includes(type) ? snapshot : null;
}

interface Started extends FirstStep {
  readonly input?: unknown;
}

const differs = (version: number): string =>
  `Step ${version} comes out differently than it was recorded: the chart was edited, or asks the clock or chance inside itself. What is recorded is shown.`;

/** Goes through histories and keeps the last few, so that only new steps are read. */
export class ReplayCache {
  readonly #storage: Pick<InspectedStorage, "history">;
  readonly #chartOf: ChartOf;
  readonly #walks = new Map<string, Walk>();

  constructor(storage: Pick<InspectedStorage, "history">, chartOf: ChartOf) {
    this.#storage = storage;
    this.#chartOf = chartOf;
  }

  /** All steps of an instance up to its present version. Nothing runs and nothing is stored. */
  async of(instance: InstanceRecord): Promise<ReplayedHistory> {
    const { id, version, createdAt, workflow, hash } = instance;
    const [oldest] = await this.#storage.history(id, { after: 0, limit: 1 });
    const first = oldest?.version ?? 1;
    if (version - first >= MAX_FOLDED) {
      const problem = `It has ${version - first + 1} steps, which is too many to go through again.`;
      return { steps: new Map(), eras: [], gaps: [{ first, last: version, problem }] };
    }
    // An id may be free again, and taken by another instance.
    const key = `${id} ${createdAt} ${workflow} ${hash}`;
    const known = this.#walks.get(key);
    const walk =
      known !== undefined && known.version <= version && known.version + 1 >= first
        ? known
        : new Walk(instance, await this.#firstKey(instance), (chart) => this.#chartOf(chart, instance));
    this.#keep(key, walk);
    while (walk.version < version) {
      const rows = await this.#storage.history(id, { after: walk.version, limit: PAGE });
      for (const row of rows) if (walk.takes(row)) walk.take(row);
      // A step may be missing, in a file that was damaged or pruned: what follows it cannot be computed.
      if (rows.length < PAGE || walk.version < (rows.at(-1)?.version ?? 0)) break;
    }
    return walk;
  }

  /** The chart that an instance was started with, which its first migration names. */
  async #firstKey({ id, workflow }: InstanceRecord): Promise<string> {
    for (let after = 0; ;) {
      const rows = await this.#storage.history(id, { after, limit: PAGE });
      const moved = rows.map(migrationOf).find((each) => each !== null);
      if (moved !== undefined) return moved.from;
      after = rows.at(-1)?.version ?? after;
      if (rows.length < PAGE) return workflow;
    }
  }

  #keep(key: string, walk: Walk): void {
    this.#walks.delete(key);
    this.#walks.set(key, walk);
    const sizeOf = (): number => [...this.#walks.values()].reduce((sum, { size }) => sum + size, 0);
    for (const oldest of this.#walks.keys()) {
      if (oldest === key || (this.#walks.size <= MAX_KEPT && sizeOf() <= MAX_TEXT)) break;
      this.#walks.delete(oldest);
    }
  }
}
