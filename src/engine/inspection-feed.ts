/** Feeds the inspectors of XState: each committed step of an instance as the events that a running actor would send. */
import type { InspectionEvent, Observer } from "xstate";
import type { CommitParts, HistoryRecord, StepRecord } from "../../storage/storage.ts";
import { FOLDED, type ChartSnapshot } from "./chart.ts";
import type { WorkflowRegistry } from "./workflow-registry.ts";
import { snapshotFromText } from "./snapshot-text.ts";
import { eventFromText } from "./values.ts";

/** The type of XState's `createActor` option `inspect`. */
export type InspectListener = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

interface InspectedActor {
  readonly id: string;
  readonly sessionId: string;
  /** The chart with its `config`; absent where it is not registered here. */
  readonly logic: object | undefined;
  readonly _parent: InspectedActor | undefined;
  /** The id of the instance that is no child. */
  readonly rootId: string;
  getSnapshot(): ChartSnapshot;
}

/** More instances are announced again when they make their next step. */
const MAX_ANNOUNCED = 10_000;

export class InspectionFeed {
  readonly #inspect: InspectListener;
  readonly #workflows: Pick<WorkflowRegistry, "get">;
  /** Actors that the inspector knows, with the snapshot of their last step. */
  readonly #announced = new Map<string, InspectedActor>();

  constructor(inspect: InspectListener, workflows: Pick<WorkflowRegistry, "get">) {
    this.#inspect = inspect;
    this.#workflows = workflows;
  }

  /** Called after each durable commit. What the inspector throws is for the caller to catch. */
  committed({ starts = [], step, history = [] }: CommitParts): void {
    // A fold stands behind the step that makes it, and is no step.
    const made = history.filter(({ event }) => eventFromText(event).type !== FOLDED);
    const rows = new Map(made.map((row) => [row.instance, row]));
    for (const stepped of step === undefined ? starts : [step, ...starts]) {
      const row = rows.get(stepped.id);
      if (row !== undefined) this.#tell(stepped, row);
    }
  }

  #tell(
    { id, workflow, snapshot: text }: Pick<StepRecord, "id" | "workflow" | "snapshot">,
    row: HistoryRecord,
  ): void {
    const snapshot = snapshotFromText(text);
    const isKnown = this.#announced.has(id);
    const actorRef = this.#actor(id, workflow, snapshot);
    if (!isKnown) this.#emit("@xstate.actor", actorRef);
    const { type, ...rest } = eventFromText(row.event);
    const event = { ...rest, type: type === "$started" ? "xstate.init" : type };
    this.#emit("@xstate.event", actorRef, { event });
    this.#emit("@xstate.snapshot", actorRef, { event, snapshot });
    if (snapshot.status !== "active") this.#announced.delete(id);
  }

  /** The newest stand of an actor; a parent of which nothing is known yet is known by its name alone. */
  #actor(id: string, workflow: string, snapshot: ChartSnapshot): InspectedActor {
    const { parent: link } = snapshot;
    const parent =
      link === undefined ? undefined : (this.#announced.get(link.instance) ?? named(link.instance));
    const actor: InspectedActor = {
      id,
      sessionId: id,
      logic: this.#workflows.get(workflow)?.machine,
      _parent: parent,
      rootId: parent?.rootId ?? id,
      getSnapshot: () => snapshot,
    };
    this.#announced.delete(id);
    this.#announced.set(id, actor);
    const [oldest] = this.#announced.keys();
    if (oldest !== undefined && this.#announced.size > MAX_ANNOUNCED) this.#announced.delete(oldest);
    return actor;
  }

  /** An inspector reads no more of an actor than is here. */
  #emit(type: InspectionEvent["type"], actorRef: InspectedActor, rest: object = {}): void {
    const event = { type, actorRef, rootId: actorRef.rootId, ...rest } as unknown as InspectionEvent;
    if (typeof this.#inspect === "function") this.#inspect(event);
    else this.#inspect.next?.(event);
  }
}

function named(id: string): InspectedActor {
  const snapshot: ChartSnapshot = { value: {}, context: {}, status: "active" };
  return { id, sessionId: id, logic: undefined, _parent: undefined, rootId: id, getSnapshot: () => snapshot };
}
