/** The calls of an engine that commit: in commits of their own, or in a transaction that the host has opened. */
import type { AnyStateMachine, EventFromLogic, EventObject, InputFrom } from "xstate";
import type { CommitResult, HostTransaction } from "../../storage/storage.ts";
import type { CommitAdditions } from "./kernel/step-commit-writer.ts";
import type { SendResult } from "./kernel/step-handler.ts";
import type { WithinResult, HostAdditions, HostCommands, WithinOptions } from "./within-host.ts";
import type { AnyWorkflow, StartRequest, Workflow } from "../workflow/workflow.ts";

/** Commits of a host, each in a commit of the engine's own or, with `within`, in a transaction of the host. */
export interface CommitCommands<W> {
  /**
   * The same within a transaction of yours, which it is part of: the rows of both exist together or not at all. Throws
   * `CommitRefused` for what is refused, which leaves the transaction usable; a TypeError where no transaction is open, or it
   * is on another database. On SQLite all is done, or thrown, when the call returns; on PostgreSQL await it before COMMIT.
   */
  commit<Host extends HostTransaction>(
    additions: HostAdditions<W>,
    options: WithinOptions<Host>,
  ): WithinResult<Host>;
  /** Starts instances and makes writes in one commit. Refused: `exists` for a taken id, `write` for a write, with `index` in the list. */
  commit(companions: CommitAdditions<W>): Promise<CommitResult>;
  /** The same within a transaction of yours: see `commit`. */
  start<M extends AnyStateMachine, Host extends HostTransaction>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
    options: WithinOptions<Host>,
  ): WithinResult<Host>;
  /** Starts one instance, as `commit` with a single start. Rejects with `UnknownWorkflow` where this engine lacks the workflow. */
  start<M extends AnyStateMachine>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
  ): Promise<CommitResult>;
  /**
   * Sends the event with a transaction of yours, as a message: the chart decides about it once you have committed, behind
   * the messages that came before it. It waits for an instance that is not there yet. See `commit`.
   */
  send<M extends AnyStateMachine, Host extends HostTransaction>(
    workflow: Workflow<M, W>,
    id: string,
    event: EventFromLogic<M>,
    options: WithinOptions<Host> & Pick<HostAdditions<W>, "writes">,
  ): WithinResult<Host>;
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

/** Whatever stands beside an event. */
type SendOptions<W> = Partial<WithinOptions<HostTransaction>> &
  Pick<CommitAdditions<W>, "writes" | "expectedVersion">;

/** The calls in commits of the engine's own. */
export interface OwnCommands<W> {
  commit(additions: CommitAdditions<W>): Promise<CommitResult>;
  send(
    workflow: AnyWorkflow,
    id: string,
    ...event: readonly [EventObject, SendOptions<W>]
  ): Promise<SendResult>;
}

/** Makes each call within the transaction of the host where one is given, and else in a commit of the engine's own. */
export function orWithin<W>(own: OwnCommands<W>, hosted: HostCommands<W>): CommitCommands<W> {
  const commit = (additions: CommitAdditions<W>, options?: WithinOptions<HostTransaction>): unknown =>
    options === undefined ? own.commit(additions) : hosted.commit(additions, options.within);
  const calls = {
    commit,
    start: (workflow: AnyWorkflow, ...[start, options]: [StartRequest, WithinOptions<HostTransaction>?]) =>
      commit({ starts: [{ workflow, id: start.id, input: start.input }] }, options),
    send: (workflow: AnyWorkflow, id: string, ...[event, options = {}]: [EventObject, SendOptions<W>?]) =>
      "within" in options
        ? hosted.send({ workflow, id, event }, options as WithinOptions<HostTransaction>)
        : own.send(workflow, id, event, options),
  };
  // What comes of a call depends on whether a transaction is given.
  return calls as unknown as CommitCommands<W>;
}
