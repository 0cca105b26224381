/** The calls of an engine that commit. */
import type { AnyStateMachine, EventFromLogic, InputFrom } from "xstate";
import type { CommitResult } from "../../storage/storage.ts";
import { givenEvent } from "./kernel/given-events.ts";
import type { CommitAdditions } from "./kernel/step-commit-writer.ts";
import type { SendResult, StepHandler } from "./kernel/step-handler.ts";
import type { Workflow } from "../workflow/workflow.ts";

/** Commits of a host, each in a commit of the engine's own. */
export interface CommitCommands<W> {
  /** Starts instances and makes writes in one commit. Refused: `exists` for a taken id, `write` for a write, with `index` in the list. */
  commit(companions: CommitAdditions<W>): Promise<CommitResult>;
  /** Starts one instance, as `commit` with a single start. Rejects with `UnknownWorkflow` where this engine lacks the workflow. */
  start<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
  ): Promise<CommitResult>;
  /**
   * Hands an event to an instance and resolves when the step it makes is durable. Among racing senders one wins after
   * each step and the others decide again, so that only the chart decides about an event.
   *
   * Rejects with `UnknownWorkflow` where this engine does not have the workflow, and for an instance of another one; with
   * a TypeError for an event of the engine's own: its type begins with `$` or `xstate.`, all but `xstate.route`, or a field of
   * it begins with `$`.
   */
  send<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    id: string,
    event: EventFromLogic<M>,
    companions?: Pick<CommitAdditions<W>, "writes" | "expectedVersion">,
  ): Promise<SendResult>;
}

/** One commit per item. */
export const commitCommands = <W>(steps: Pick<StepHandler<W>, "commit" | "send">): CommitCommands<W> => ({
  commit: (companions) => steps.commit(companions),
  start: (workflow, { id, input }) => steps.commit({ starts: [{ workflow, id, input }] }),
  send: (workflow, id, ...[event, companions]) =>
    steps.send(id, givenEvent(event), companions === undefined ? { workflow } : { ...companions, workflow }),
});
