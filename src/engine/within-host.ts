/**
 * Commits in a transaction of the host. They only add rows, and nothing of the rows is remembered or told here: the host may
 * still roll back.
 */
import { decided } from "../../storage/decided.ts";
import type {
  CommitAnswer,
  CommitResult,
  EngineStorage,
  HostCommit,
  HostDatabase,
  HostTransaction,
  Insert,
} from "../../storage/storage.ts";
import { givenEvent } from "./kernel/given-events.ts";
import type { HostStepAdditions } from "./kernel/step-commit-writer.ts";
import type { SentEvent, StepHandler } from "./kernel/step-handler.ts";
import type { StartRequest } from "../workflow/workflow.ts";

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

/** What a commit within a transaction of the host may add. */
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

interface HostCallParts<W> {
  readonly storage: Pick<EngineStorage, "within">;
  readonly steps: Pick<StepHandler<W>, "charts" | "added" | "sent">;
  /** Calls back when the host's function has had its turn. */
  readonly later: () => void;
}

export interface HostCommands<W> {
  commit(additions: HostStepAdditions<W>, host: HostTransaction): unknown;
  /** The event is a message: whether the chart takes it is decided once it is delivered, behind those sent before. */
  send(
    message: SentEvent,
    options: WithinOptions<HostTransaction> & Pick<HostStepAdditions<W>, "writes">,
  ): unknown;
}

export function hostCommands<W>({ storage, steps, later }: HostCallParts<W>): HostCommands<W> {
  const { charts } = steps;
  const carriedOut = (host: HostTransaction, item: HostCommit): CommitAnswer | Promise<CommitAnswer> => {
    if (storage.within !== undefined) return storage.within(host, item);
    throw new TypeError("within: this storage has no transactions of a host: use SQLite or PostgreSQL");
  };
  const addTo = async (host: HostTransaction, added: () => HostCommit): Promise<void> => {
    if (!charts.isDone) await charts.check();
    checkAdded(await carriedOut(host, added()));
  };
  const add = (host: HostTransaction, added: () => HostCommit): unknown => {
    // A program without types may hand over a variable that it has not set.
    if (Object(host) !== host) throw nothingGiven();
    if (!("prepare" in host)) return addTo(host, added);
    if (!charts.isDone) throw unprepared();
    checkAdded(carriedOut(host, added()));
    later();
    return undefined;
  };
  return {
    commit: ({ starts = [], writes = [] }, host) => add(host, () => steps.added({ starts, writes })),
    send: ({ event, ...message }, { within, writes = [] }) =>
      add(within, () =>
        steps.added({ writes, arms: [steps.sent({ ...message, event: givenEvent(event) })] }),
      ),
  };
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
