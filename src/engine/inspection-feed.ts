/** Feeds the inspectors of XState: each committed step of an instance as the events that a running actor would send. */
import type { InspectionEvent, Observer } from "xstate";
import type { CommitParts, HistoryRecord, StepRecord } from "../../storage/storage.ts";
import type { Logger } from "../core/runtime.ts";
import { ADDED_ROWS } from "../workflow/added-fields.ts";
import type { ChartSnapshot } from "../workflow/chart.ts";
import type { WorkflowRegistry } from "../workflow/workflow-registry.ts";
import { snapshotFromText } from "../workflow/snapshot-text.ts";
import { eventFromText } from "../workflow/values.ts";

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

type Stepped = Pick<StepRecord, "id" | "workflow" | "snapshot">;

/** More instances are announced again when they make their next step. */
const MAX_ANNOUNCED = 10_000;

interface InspectionParts {
  readonly workflows: Pick<WorkflowRegistry, "get">;
  readonly log: Logger;
}

/** To be called after each durable commit. The caller catches an exception of the inspector; a rejection is logged. */
export function inspectionFeed(
  inspect: InspectListener,
  { workflows, log }: InspectionParts,
): (commit: CommitParts) => void {
  const failed = (err: unknown): void => log.error({ err }, "an inspector failed");
  /** Actors that the inspector knows, with the snapshot of their last step. */
  const announced = new Map<string, InspectedActor>();
  /** The newest stand of an actor; a parent of which nothing is known yet is known by its name alone. */
  const actorOf = ({ id, workflow }: Stepped, snapshot: ChartSnapshot): InspectedActor => {
    const { parent: link } = snapshot;
    const parent = link === undefined ? undefined : (announced.get(link.instance) ?? named(link.instance));
    const logic = workflows.get(workflow)?.machine;
    const rootId = parent?.rootId ?? id;
    const actor = { id, sessionId: id, logic, _parent: parent, rootId, getSnapshot: () => snapshot };
    announced.delete(id);
    announced.set(id, actor);
    const [oldest] = announced.keys();
    if (oldest !== undefined && announced.size > MAX_ANNOUNCED) announced.delete(oldest);
    return actor;
  };
  /** An inspector reads no more of an actor than is here. */
  const emit = (type: InspectionEvent["type"], actorRef: InspectedActor, rest: object = {}): void => {
    const event = { type, actorRef, rootId: actorRef.rootId, ...rest } as unknown as InspectionEvent;
    const take: ((event: InspectionEvent) => unknown) | undefined =
      typeof inspect === "function" ? inspect : inspect.next?.bind(inspect);
    const answer = take?.(event);
    if (answer instanceof Promise) answer.catch(failed);
  };
  const tell = (stepped: Stepped, row: HistoryRecord): void => {
    const snapshot = snapshotFromText(stepped.snapshot);
    const isKnown = announced.has(stepped.id);
    const actor = actorOf(stepped, snapshot);
    if (!isKnown) emit("@xstate.actor", actor);
    const { type, ...rest } = eventFromText(row.event);
    const event = { ...rest, type: type === "$started" ? "xstate.init" : type };
    emit("@xstate.event", actor, { event });
    emit("@xstate.snapshot", actor, { event, snapshot });
    if (snapshot.status !== "active") announced.delete(stepped.id);
  };
  return ({ starts = [], step, history = [] }) => {
    // A row that stands for earlier steps is no step.
    const made = history.filter(({ event }) => !ADDED_ROWS.includes(eventFromText(event).type));
    const rows = new Map(made.map((row) => [row.instance, row]));
    for (const stepped of step === undefined ? starts : [step, ...starts]) {
      const row = rows.get(stepped.id);
      if (row !== undefined) tell(stepped, row);
    }
  };
}

function named(id: string): InspectedActor {
  const snapshot: ChartSnapshot = { value: {}, context: {}, status: "active" };
  return { id, sessionId: id, logic: undefined, _parent: undefined, rootId: id, getSnapshot: () => snapshot };
}
