/** Sends an event and waits for the state that follows; starts an instance, or sends to the one that is there. */
import type { AnyStateMachine, EventFromLogic, EventObject, InputFrom } from "xstate";
import type { HistoryRecord, InstanceRecord } from "../../../../storage/storage.ts";
import type { ChartSnapshot } from "../../../workflow/chart.ts";
import { throwRefusal } from "../../kernel/end-task.ts";
import { givenEvent } from "../../kernel/given-events.ts";
import { onAbort } from "../../on-abort.ts";
import { stateMatches } from "../../../workflow/state-matches.ts";
import type { SnapshotOf } from "../../reading/views.ts";
import {
  StateNotReached,
  type InstanceWaitList,
  type StoredRun,
  type WaitTarget,
} from "../../reading/waiting.ts";
import { checkTarget, isOfVersion, noInstance } from "../../reading/workflow-reads.ts";
import type { SendResult, StepHandler } from "../../kernel/step-handler.ts";
import type { AnyWorkflow, Workflow } from "../../../workflow/workflow.ts";

/** The state or the end that an ask waits for; see `Engine.ask`. */
export interface AskOptions<M> {
  /** The state to wait for, or `"final"`. Default: the state that the event leads to at once. */
  readonly until?: WaitTarget<M>;
  /** Ends the wait, and takes nothing back: the event may have been taken. */
  readonly signal?: AbortSignal;
}

/** The answer of `startOrSend`: `started` without the event, or what became of the event. */
export type StartOrSendResult = { readonly kind: "started" } | SendResult;

/** An event and what comes of it, in one call. */
export interface AskCommands<W> {
  /**
   * Sends an event and resolves with the instance as it stands behind it: after the step that the event makes, or with
   * `until`, at the first awaited state from that step on; another sender's step may lead there; if another process has led
   * the instance on, then the present state. States before the event do not count. Where the chart takes no such event now,
   * or the instance had ended, nothing is sent: then its present state counts, too.
   *
   * Rejects with `StateNotReached` when the instance ends in another state, with a TypeError when there is no instance of
   * this id, or no such state in the chart, with an error when the instance is removed meanwhile, with the signal's reason,
   * and as `send` and `waitFor` do.
   *
   * ```ts
   * const { context } = await engine.ask(orders, "order-1", { type: "PAY" }, { until: { state: "paid" } });
   * ```
   */
  ask<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    id: string,
    event: EventFromLogic<M>,
    options?: AskOptions<M>,
  ): Promise<SnapshotOf<M>>;
  /**
   * Starts an instance where there is none of this id, and else sends the event to the one that is there: of callers at
   * once, in whatever processes, one starts it and the others send. The starter does not send.
   *
   * ```ts
   * const { kind } = await engine.startOrSend(carts, { id: "ada", input: { items: ["tea"] } }, { type: "ADD", item: "tea" });
   * ```
   */
  startOrSend<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
    event: EventFromLogic<M>,
  ): Promise<StartOrSendResult>;
}

interface AskParts<W> {
  readonly steps: Pick<StepHandler<W>, "send" | "commit">;
  readonly waiting: Pick<InstanceWaitList, "waitFor">;
}

export function askCommands<W>({ steps, waiting }: AskParts<W>): AskCommands<W> {
  const ask = async (
    workflow: AnyWorkflow,
    ...[id, event, { until, signal } = {}]: [id: string, event: EventObject, options?: AskOptions<unknown>]
  ): Promise<ChartSnapshot> => {
    if (until !== undefined) checkTarget("ask", workflow, until);
    signal?.throwIfAborted();
    const own = new OwnStep(id);
    const over = new AbortController();
    const stopListening = onAbort(signal, () => over.abort(signal?.reason));
    const isMeant = (run: StoredRun): boolean => own.isBehind(run) && isOfVersion(workflow, run);
    // Begun before the event is sent, so that no state behind it is missed.
    const checkAbsent = (): void => own.checkAbsent();
    const begun = (): ReturnType<OwnStep["begun"]> => own.begun();
    const following =
      until === undefined
        ? null
        : waiting.waitFor({ id, until, signal: over.signal, isMeant, checkAbsent, begun });
    following?.catch(() => {});
    try {
      const onTried = (step: HistoryRecord, life: string): void => own.tried({ ...step, life });
      const sent = await steps.send(id, givenEvent(event), { workflow, onTried });
      switch (sent.kind) {
        case "stepped":
          return following === null ? sent.snapshot : await following;
        case "unchanged":
          if (until === undefined) return sent.snapshot;
          return await waiting.waitFor({
            id,
            until,
            signal,
            isMeant: (run) => isOfVersion(workflow, run),
            checkAbsent() {
              throw absent(id);
            },
          });
        case "ended":
          return endedAs(id, sent.snapshot, until);
        case "absent":
          throw absent(id);
        case "refused":
          throwRefusal(sent.result);
          throw new Error(`the event ${event.type} was refused`);
      }
    } finally {
      stopListening();
      over.abort();
    }
  };
  // Gives a stored instance the types of its chart.
  return { ask, startOrSend: startingOrSending(steps) } as unknown as AskCommands<W>;
}

const startingOrSending =
  <W>(steps: AskParts<W>["steps"]) =>
  async (
    workflow: Workflow<AnyStateMachine, W>,
    { id, input }: { readonly id: string; readonly input: unknown },
    event: EventObject,
  ): Promise<StartOrSendResult> => {
    for (;;) {
      const sent = await steps.send(id, givenEvent(event), { workflow });
      if (sent.kind !== "absent") return sent;
      const result = await steps.commit({ starts: [{ workflow, id, input }] });
      if (result.ok) return { kind: "started" };
      // Another caller has started it meanwhile.
      if (result.conflict !== "exists") return { kind: "refused", result };
    }
  };

const absent = (id: string): TypeError => noInstance("ask", id, "call startOrSend");

function endedAs(id: string, snapshot: ChartSnapshot, until: WaitTarget | undefined): ChartSnapshot {
  if (until === undefined || until === "final" || stateMatches(snapshot.value, until.state)) return snapshot;
  throw new StateNotReached(id, until.state, snapshot);
}

type TriedStep = Pick<HistoryRecord, "stamp" | "version"> & Pick<InstanceRecord, "life">;

/** The step that an event makes, and what comes behind it. */
class OwnStep {
  readonly #instance: string;
  #tried: TriedStep | null = null;
  #isMade = false;

  constructor(instance: string) {
    this.#instance = instance;
  }

  /** Before its commit, and again where another step came first. */
  tried(step: TriedStep): void {
    this.#tried = step;
  }

  /** The version that the step is made from; null before it is tried. */
  begun(): Pick<TriedStep, "life" | "version"> | null {
    return this.#tried && { ...this.#tried, version: this.#tried.version - 1 };
  }

  /**
   * Whether a state is that of the step or a later one. A state that was read may be older than what was told meanwhile.
   * @throws when the state is of another life: the instance of the step was removed, and its next state never comes.
   */
  isBehind({ stamp, version, life }: Pick<StoredRun, "stamp" | "version" | "life">): boolean {
    if (this.#tried === null) return false;
    if (stamp === this.#tried.stamp) this.#isMade = true;
    if (!this.#isMade) return false;
    if (life !== undefined && life !== this.#tried.life) throw this.#removed();
    return version === undefined || version >= this.#tried.version;
  }

  /** @throws when the instance that has made the step is not there any more. */
  checkAbsent(): void {
    if (this.#isMade) throw this.#removed();
  }

  #removed(): Error {
    return new Error(
      `instance ${this.#instance} has taken the event, and was removed before the awaited state was seen`,
    );
  }
}
