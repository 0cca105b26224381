/**
 * Replays the recorded events of an instance through the pure chart, to get the effects and the state of each step.
 */
import type { HistoryRecord, InstanceRecord } from "../../../storage/storage.ts";
import {
  MIGRATED,
  type Chart,
  type ChartAction,
  type ChartSnapshot,
  type ParentLink,
} from "../../engine/chart.ts";
import { snapshotFromText, snapshotToText } from "../../engine/snapshot-text.ts";
import { eventFromText } from "../../engine/values.ts";
import type { AnyWorkflow } from "../../engine/workflow.ts";
import type { InspectedStorage } from "../../engine/inspected-engine.ts";

/** A recorded step, replayed by the chart. */
export interface ReplayedStep {
  readonly version: number;
  readonly after: ChartSnapshot;
  /** Actions of the step, in the order of the chart. */
  readonly actions: readonly ChartAction[];
}

/** A replayed history, and how far the replay went. */
export interface ReplayedHistory {
  /** Replayed steps, by version. A step is absent when its chart is not registered here. */
  readonly steps: ReadonlyMap<number, ReplayedStep>;
  /** The reason for missing steps, as a sentence; null for a complete history. */
  readonly problem: string | null;
}

const PAGE = 1_000;
const MAX_FOLDED = 20_000;
const MAX_KEPT = 30;
/** Characters of the snapshots of one instance: what is computed is kept in memory, and takes a few times as much. */
const MAX_WALKED = 8_000_000;
/** Characters of the snapshots of all that are kept. */
const MAX_TEXT = 4 * MAX_WALKED;

/** A replay of one instance. */
class Walk {
  readonly steps = new Map<number, ReplayedStep>();
  problem: string | null = null;
  last: ChartSnapshot | null = null;
  version = 0;
  /** Characters of the snapshots that are kept. */
  size = 0;
  readonly #workflow: AnyWorkflow;

  constructor(workflow: AnyWorkflow) {
    this.#workflow = workflow;
  }

  take(row: HistoryRecord): void {
    this.version = row.version;
    if (this.problem !== null) return;
    try {
      this.#step(row);
    } catch {
      this.problem = `Step ${row.version} cannot be computed again: the chart that is registered here refuses its event.`;
    }
  }

  #step({ version, event: text, value }: HistoryRecord): void {
    const event = eventFromText(text);
    if (event.type === MIGRATED) {
      const { to, snapshot } = event as unknown as { readonly to: string; readonly snapshot: ChartSnapshot };
      this.last = to === this.#workflow.key ? snapshot : null;
      if (this.last !== null) this.steps.set(version, { version, after: snapshot, actions: [] });
      return;
    }
    const { chart } = this.#workflow;
    const step =
      event.type === "$started"
        ? chart.start(...startOf(event as unknown as Started))
        : this.last === null
          ? null
          : chart.step(this.#copyOf(this.last), event);
    if (step === null) {
      // Made by an older version of the chart, which is not here; or by another chart of this version.
      if (this.last !== null) this.problem = differs(version);
      return;
    }
    if (JSON.stringify(step.after.value) !== value) {
      this.problem = differs(version);
      return;
    }
    if (this.size > MAX_WALKED) {
      this.problem = `From step ${version} on the contexts are not computed: those of the steps before fill the memory that is set aside for it.`;
      return;
    }
    this.last = step.after;
    this.steps.set(version, { version, after: step.after, actions: step.actions });
  }

  /** A chart that changes its context in place must not change the steps before. */
  #copyOf(snapshot: ChartSnapshot): ChartSnapshot {
    const text = snapshotToText(snapshot);
    this.size += text.length;
    return snapshotFromText(text);
  }
}

interface Started {
  readonly input?: unknown;
  readonly parent?: ParentLink;
  readonly runs?: ChartSnapshot["runs"];
}

const startOf = ({ input, parent, runs }: Started): Parameters<Chart["start"]> => [input, parent, runs];

const differs = (version: number): string =>
  `Step ${version} comes out differently than it was recorded: the chart was edited, or asks the clock or chance inside itself. What is recorded is shown.`;

/** Goes through histories and keeps the last few, so that only new steps are read. */
export class ReplayCache {
  readonly #storage: Pick<InspectedStorage, "history">;
  readonly #walks = new Map<string, Walk>();

  constructor(storage: Pick<InspectedStorage, "history">) {
    this.#storage = storage;
  }

  /** All steps of an instance up to its present version. Nothing runs and nothing is stored. */
  async of({ id, version, createdAt }: InstanceRecord, workflow: AnyWorkflow): Promise<ReplayedHistory> {
    if (version > MAX_FOLDED) {
      return { steps: new Map(), problem: `It has ${version} steps, which is too many to go through again.` };
    }
    // An id may be free again, and taken by another instance.
    const key = `${id} ${createdAt} ${workflow.hash}`;
    const known = this.#walks.get(key);
    const walk = known !== undefined && known.version <= version ? known : new Walk(workflow);
    this.#keep(key, walk);
    while (walk.version < version) {
      const rows = await this.#storage.history(id, { after: walk.version, limit: PAGE });
      for (const row of rows) if (row.version === walk.version + 1) walk.take(row);
      // A step may be missing, in a file that was damaged or pruned: what follows it cannot be computed.
      if (rows.length < PAGE || walk.version < (rows.at(-1)?.version ?? 0)) break;
    }
    return { steps: walk.steps, problem: walk.problem };
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
