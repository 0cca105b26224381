/**
 * Finds related instances: parent, children, instances that the chart has started or told, and instances of the same
 * payment.
 */
import { type ChartAction, type ChartSnapshot, childInstance } from "../workflow/chart.ts";
import type { InspectedStorage } from "../engine/inspected-engine.ts";
import type { AwaitedInstance } from "./explain-waiting.ts";
import { stateWords } from "./show-values.ts";
import { valueOf, type FoundInstance } from "./read-instances.ts";
import type { ReplayedHistory } from "./recount/replay-history.ts";

/** An instance that is related to the shown instance. */
export interface RelatedInstance {
  readonly id: string;
  /** The relation, such as `parent`. */
  readonly is: string;
  readonly workflow: string;
  readonly value: unknown;
  readonly status: "active" | "done";
}

/** An id and its relation. */
export type RelatedId = readonly [id: string, is: string];

const MAX_RELATED = 60;

/** Loads the related instances that exist, without duplicates, nearest first. */
export async function findRelated(
  storage: Pick<InspectedStorage, "load">,
  { instance }: FoundInstance,
  relations: readonly RelatedId[],
): Promise<RelatedInstance[]> {
  const named = new Map<string, string>();
  for (const [id, is] of relations) if (id !== instance.id && !named.has(id)) named.set(id, is);
  const found = await Promise.all(
    [...named].slice(0, MAX_RELATED).map(async ([id, is]) => ({ is, record: await storage.load(id) })),
  );
  return found.flatMap(({ is, record }) =>
    record === null
      ? []
      : [{ id: record.id, is, workflow: record.workflow, value: valueOf(record), status: record.status }],
  );
}

/** Deliveries tell an order nothing, and its parent waits for it. */
const NEVER_WAITED_FOR: ReadonlySet<string> = new Set(["parent", "order", "delivery", "told by it"]);

/** Related instances whose end the shown instance waits for: not of one that is done and stays, in case its marker is gone. */
export function waitedFor(related: readonly RelatedInstance[]): AwaitedInstance[] {
  return related
    .filter(({ is, status, value }) => status === "active" && value !== "done" && !NEVER_WAITED_FOR.has(is))
    .map(({ id, is, value }) => ({ id, is, state: stateWords(value) }));
}

/** Relations found in the snapshot and in the effects of the steps. */
export function relationsOf({ instance }: FoundInstance, fold: ReplayedHistory | null): RelatedId[] {
  const { parent, children = {} } = JSON.parse(instance.snapshot) as ChartSnapshot;
  const above: RelatedId[] = parent === undefined ? [] : [[parent.instance, "parent"]];
  const below = Object.entries(children).flatMap(([id, { run }]): RelatedId[] =>
    run === undefined ? [] : [[childInstance(instance.id, id, run), "child"]],
  );
  const asked = [...(fold?.steps.values() ?? [])].flatMap(({ actions }) =>
    actions.flatMap((action) => askedOf(instance.id, action)),
  );
  return [...above, ...below, ...asked];
}

function askedOf(id: string, action: ChartAction): RelatedId[] {
  if (action.kind === "startChild" && action.run !== undefined) {
    return [[childInstance(id, action.id, action.run), "child"]];
  }
  const target = messageTarget(action);
  return target === null ? [] : [[target.id, target.kind === "start" ? "started by it" : "told by it"]];
}

/** The instance that the engine's own actions `start` and `tell` name; null for every other action. */
export function messageTarget(
  action: ChartAction,
): { readonly kind: "start" | "tell"; readonly id: string; readonly event: string | null } | null {
  if (action.kind !== "effect") return null;
  const { name, params } = action.effect;
  const { id, event } = (params ?? {}) as {
    readonly id?: unknown;
    readonly event?: { readonly type?: unknown };
  };
  if ((name !== "start" && name !== "tell") || typeof id !== "string") return null;
  return { kind: name, id, event: typeof event?.type === "string" ? event.type : null };
}
