/**
 * Commits in a transaction of the host. They only add rows, and nothing of the rows is remembered or told here: the host may
 * still roll back.
 */
import type { AnyStateMachine, EventFromLogic, EventObject, InputFrom } from "xstate";
import { decided } from "../../../../storage/decided.ts";
import type {
  AnyCommit,
  CommitAnswer,
  CommitResult,
  HostCommit,
  HostDatabase,
  HostTransaction,
  Insert,
  TaskRecord,
} from "../../../../storage/storage.ts";
import type { StartRequest } from "../../../workflow/effect-run.ts";
import { checkId } from "../../../workflow/instance-id.ts";
import { messageTask } from "../../../workflow/messages.ts";
import { newMoment } from "../../../workflow/stamps.ts";
import type { AnyWorkflow, Workflow } from "../../../workflow/workflow.ts";
import type { ModuleContext } from "../../engine-module.ts";
import { givenEvent } from "../../kernel/given-events.ts";
import type { CommitAdditions } from "../../kernel/step-commit-writer.ts";

/** Makes a commit part of the transaction that the host has opened. */
export interface WithinOptions<Host extends HostTransaction> {
  /**
   * On PostgreSQL the client of pg whose transaction is open, or what Kysely, Drizzle, Prisma or TypeORM hand out for
   * one; on SQLite the `Database` of better-sqlite3, or the `DatabaseSync` of `node:sqlite`, whose transaction is open.
   */
  readonly within: Host;
}

/** In a database of SQLite all is done, or thrown, when the call returns. */
export type WithinResult<Host extends HostTransaction> = Host extends HostDatabase ? void : Promise<void>;

/** The rows that a commit within a transaction of the host may add. */
export interface HostAdditions<W> {
  readonly starts?: readonly StartRequest[];
  readonly writes?: readonly Insert<W>[];
}

/**
 * A commit within a transaction of the host was refused: `result` says what for. Not caught, the error takes the host's
 * own rows back with the rest of the transaction; caught, it has left no trace, and the transaction goes on.
 *
 * @example
 * ```ts
 * import Database from "better-sqlite3";
 * import { CommitRefused, createEngine, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine } from "xstate";
 *
 * const lights = workflow(createMachine({ id: "light", initial: "off", states: { off: {} } }))({ version: 1 });
 * const storage = await sqliteStorage("rooms.db");
 * const engine = createEngine({ storage, workflows: [lights] });
 * await engine.ready(); // on SQLite once, before the first transaction
 *
 * const db = new Database("rooms.db");
 * const furnish = db.transaction((id: string) => {
 *   engine.start(lights, { id, input: undefined }, { within: db });
 * });
 * furnish.immediate("kitchen");
 * try {
 *   furnish.immediate("kitchen");
 * } catch (error) {
 *   if (error instanceof CommitRefused) console.log(error.result); // { ok: false, conflict: 'exists', index: 0 }
 * }
 * db.close();
 * await storage.close();
 * ```
 */
export class CommitRefused extends Error {
  override readonly name = "CommitRefused";
  readonly result: Exclude<CommitResult, { readonly ok: true }>;

  constructor(result: Exclude<CommitResult, { readonly ok: true }>) {
    super(`the commit was refused: ${JSON.stringify(result)}`);
    this.result = result;
  }
}

/** The commits of a host within its own transaction. */
export interface WithinCommands<W> {
  /**
   * The same within a transaction of yours, which it is part of: the rows of both exist together or not at all. Throws
   * `CommitRefused` for what is refused, which leaves the transaction usable; a TypeError where no transaction is open, or it
   * is on another database. On SQLite all is done, or thrown, when the call returns; on PostgreSQL await it before COMMIT.
   */
  commit<Host extends HostTransaction>(
    additions: HostAdditions<W>,
    options: WithinOptions<Host>,
  ): WithinResult<Host>;
  /** The same within a transaction of yours: see `commit`. */
  start<M extends AnyStateMachine, Host extends HostTransaction>(
    workflow: Workflow<M, W>,
    start: { readonly id: string; readonly input: InputFrom<M> },
    options: WithinOptions<Host>,
  ): WithinResult<Host>;
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
}

/** Fields of an outcome beside its event. */
type SendOptions<W> = Partial<WithinOptions<HostTransaction>> &
  Pick<CommitAdditions<W>, "writes" | "expectedVersion">;

/** Makes each call within the transaction of the host where one is given, and else in a commit of the engine's own. */
export function orWithin<W>(engine: ModuleContext<W>): WithinCommands<W> {
  const { own, steps } = engine;
  const add = (host: unknown, companions: () => CommitAdditions<W>): unknown =>
    addTo(engine, host, () => rowsOf(steps.planned(companions())));
  const commit = (additions: CommitAdditions<W>, options?: WithinOptions<HostTransaction>): unknown => {
    if (options === undefined) return own.commit(additions);
    const { starts = [], writes = [] } = additions;
    return add(options.within, () => ({ starts, writes }));
  };
  const calls = {
    commit,
    start: (workflow: AnyWorkflow, ...[start, options]: [StartRequest, WithinOptions<HostTransaction>?]) =>
      commit({ starts: [{ workflow, id: start.id, input: start.input }] }, options),
    send: (workflow: ToSend<W>, id: string, ...[event, options = {}]: [EventObject, SendOptions<W>?]) => {
      if (!("within" in options)) return own.send(workflow, id, event, options);
      const { within, writes = [] } = options;
      return add(within, () => ({ writes, arms: [sent(engine, { workflow, id, event })] }));
    },
  };
  // The result of a call depends on whether a transaction is given.
  return calls as unknown as WithinCommands<W>;
}

type ToSend<W> = Workflow<AnyStateMachine, W>;

function addTo<W>(
  { storage, steps: { charts }, wake }: ModuleContext<W>,
  host: unknown,
  added: () => HostCommit,
): unknown {
  // A program without types may hand over a variable that it has not set.
  if (!isTransaction(host)) throw nothingGiven();
  const carriedOut = (): CommitAnswer | Promise<CommitAnswer> => {
    const item = added();
    if (storage.within !== undefined) return storage.within(host, item);
    throw new TypeError("within: this storage has no transactions of a host: use SQLite or PostgreSQL");
  };
  if (!("prepare" in host)) {
    const checked = charts.isDone ? Promise.resolve() : charts.check();
    return checked.then(carriedOut).then(checkAdded);
  }
  if (!charts.isDone) throw unprepared();
  checkAdded(carriedOut());
  // Next to the worker's turn, in which a transaction of SQLite cannot be open any more.
  setImmediate(wake);
  return undefined;
}

const isTransaction = (host: unknown): host is HostTransaction => Object(host) === host;

interface SentEvent {
  readonly workflow: AnyWorkflow;
  readonly id: string;
  readonly event: EventObject;
}

/**
 * An event on its way to an instance. It is a message: whether the chart takes it is decided once it is delivered, behind those
 * sent before. No step arms the task, so its id names none.
 */
function sent<W>(
  { clock, random, workflows }: ModuleContext<W>,
  { workflow, id: instance, event }: SentEvent,
): TaskRecord {
  const given = givenEvent(event);
  const { name: machine, key } = workflows.ofHandle(workflow, instance);
  checkId(instance);
  const { at, stamp } = newMoment(clock, random);
  const to = { instance, workflow: key, machine };
  return messageTask({ id: `${instance} ${stamp}`, dueAt: at }, to, { event: given });
}

/**
 * The rows that a commit adds. A message that waits for its start learns its workflow from the start when it is claimed: rows of
 * others stay as they are. @throws TypeError for what changes a row, which others would have to wait for.
 */
export function rowsOf({
  starts = [],
  arms = [],
  history = [],
  queries = [],
  ...commit
}: AnyCommit): HostCommit {
  const writes = (commit.writes ?? []).map((write, index) => {
    if ("insert" in write || "put" in write) return write;
    throw new TypeError(
      `writes.${index}: within a transaction of yours a commit only adds rows: insert, or write with a statement of your own`,
    );
  });
  return { starts, arms, history, queries, writes };
}

function checkAdded(answer: CommitAnswer | Promise<CommitAnswer>): void {
  if (answer instanceof Promise) {
    // It rejects with the same.
    answer.catch(() => {});
    throw new TypeError("within: a database of SQLite was given to another storage");
  }
  const result = decided(answer);
  if (!result.ok) throw new CommitRefused(result);
}

const nothingGiven = (): TypeError =>
  new TypeError("within: expected the connection on which your transaction is open");

const unprepared = (): Error =>
  new Error(
    "within: this engine has not compared its charts with the stored ones yet, and cannot do so while a transaction of " +
      "SQLite waits: `await engine.ready()` once, before the first one",
  );
