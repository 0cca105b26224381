/** Runs what stands in the chart itself: the creator of a promise actor, the body of an action. */
import type { EventObject } from "xstate";
import type { ClaimedTask, EngineStorage } from "../../../storage/storage.ts";
import type { ActionBody, PromiseCreator } from "../../workflow/chart-interpreter.ts";
import { withinRun } from "./current-run.ts";
import { contextOf } from "./lent-contexts.ts";
import type { LentContext } from "../../workflow/large-context.ts";
import type { InvocationTask, PromiseEnd } from "../../workflow/invocation-task.ts";
import { eventFromJson, fromJson } from "../../workflow/values.ts";
import type { EffectRun } from "../../workflow/effect-run.ts";

/** Instances share no actor system: what runs beside the steps finds no actor. */
const system = {
  get(systemId: string): never {
    throw new TypeError(
      `system.get("${systemId}"): an action or a promise finds no actors; send with self.send, or with sendTo in the chart`,
    );
  },
};

export async function runPromise(
  create: PromiseCreator,
  { id, input }: InvocationTask,
  run: EffectRun,
): Promise<PromiseEnd> {
  // Code that asks an actor for its identity gets an identity that survives a crash.
  const self = { id, sessionId: run.key, system };
  const scope = {
    input,
    self,
    system,
    get signal() {
      return run.signal;
    },
    emit: () => {},
  };
  try {
    return { kind: "done", output: await withinRun(run, () => create(scope)) };
  } catch (error) {
    return { kind: "failed", error };
  }
}

interface StoredScope extends Partial<LentContext> {
  readonly params?: unknown;
  readonly context?: unknown;
  readonly event: unknown;
}

interface BodyRun {
  readonly run: EffectRun;
  /** Asked for a context that is too large to stand in the task. */
  readonly storage: Pick<EngineStorage, "load">;
}

/** Runs the body of an action to its end, and answers what it has sent to its own chart meanwhile. */
export async function runBody(
  body: ActionBody,
  { instance, payload }: Pick<ClaimedTask, "instance" | "payload">,
  { run, storage }: BodyRun,
): Promise<readonly EventObject[]> {
  const { params, context: stored, contextOf: stamp, event } = JSON.parse(payload) as StoredScope;
  const context = stamp === undefined ? fromJson(stored) : await contextOf(storage, instance, stamp);
  const sent: EventObject[] = [];
  let isOver = false;
  const self = {
    id: instance,
    sessionId: instance,
    system,
    send(each: EventObject) {
      if (isOver) throw new Error(`${each.type} came after its action had ended; await what sends it`);
      sent.push(each);
    },
  };
  const scope = { context, event: eventFromJson(event), self, system };
  await withinRun(run, () => body(scope as never, fromJson(params) as never));
  isOver = true;
  return sent;
}
