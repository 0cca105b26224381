/** Tries tasks again, drops dead letters, and drops matters that ask for nothing more. */
import { commitOne } from "../../../../storage/decided.ts";
import type { Commit } from "../../../../storage/storage.ts";
import type { FrameStorage, FrameWrite } from "../../frame/frame-storage.ts";
import type { FrameTables } from "../../frame/tables.ts";
import type { ActContext } from "../../frame/intake/rules.ts";
import type { Clock } from "../../../core/runtime.ts";
import { type Act, type WriteAct, OperatorRefused } from "../../frame/acts/act.ts";
import { matterKey, type FoundMatter } from "../../frame/acts/matter.ts";
import { decidedMeanwhile } from "../../frame/acts/decisions.ts";

export interface ResolveContext {
  readonly matter: FoundMatter;
  readonly by: ActContext;
  /** A guard in the commit: of concurrent decisions about one matter, only one succeeds. */
  readonly guard: FrameWrite;
}

/** Dependencies of decisions about tasks: storage, and the audit log. */
interface TaskResolveParts {
  readonly storage: Pick<FrameStorage, "commit" | "fact" | "matters">;
  readonly clock: Clock;
  readonly writeAct: WriteAct;
}

/** Carries out decisions about tasks, each in one commit with its guard and its audit row. */
export class TaskResolveHandler {
  readonly #parts: TaskResolveParts;

  constructor(parts: TaskResolveParts) {
    this.#parts = parts;
  }

  async retry(resolving: ResolveContext): Promise<void> {
    const retry = { task: matterKey(resolving.matter), dueAt: this.#parts.clock.now(), delayMs: 0 };
    await this.#commit(resolving, { act: "retry", what: {} }, { retries: [retry] });
  }

  /** Ends a matter that asks for nothing more; what comes later of the same is a new one. */
  async drop(resolving: ResolveContext): Promise<void> {
    const { matter } = resolving;
    if (matter.kind === "dead_letter") {
      return this.#commit(resolving, { act: "drop", what: {} }, { drops: [matterKey(matter)] });
    }
    const { dropFact } = matter;
    return dropFact === undefined ? this.#dropNoted(resolving) : this.#dropComeSoFar(resolving, dropFact);
  }

  /** Ends the matter of what has come so far: it stays where it is. */
  async #dropComeSoFar(resolving: ResolveContext, dropFact: string): Promise<void> {
    const { transactionId, dropUpTo = this.#parts.clock.now() } = resolving.matter;
    const write = await this.#factOf(dropFact, dropUpTo);
    await this.#commit(resolving, { act: "drop", what: { transactionId } }, { writes: [write] });
  }

  /** Ends a matter that was noted when it began. */
  async #dropNoted(resolving: ResolveContext): Promise<void> {
    const { id } = resolving.matter;
    const [row] = await this.#parts.storage.matters([id]);
    if (row === undefined || row.state !== "waiting") throw new OperatorRefused(`${id} is over`);
    const set = { state: "ending" as const, tellingUntil: null };
    const write: FrameWrite = { table: "matters", id, set, expectedVersion: row.version };
    await this.#commit(resolving, { act: "drop", what: {} }, { writes: [write] });
  }

  /** Notes up to which time something was dropped. */
  async #factOf(id: string, upTo: number): Promise<FrameWrite> {
    const value = String(upTo);
    return (await this.#parts.storage.fact(id)) === null
      ? { table: "facts", insert: { id, value } }
      : { table: "facts", id, set: { value } };
  }

  async #commit(
    { matter, by, guard }: ResolveContext,
    { act, what }: Pick<Act, "act" | "what">,
    { writes = [], ...effects }: Commit<FrameTables>,
  ): Promise<void> {
    const audit = this.#parts.writeAct({ by, act, what: { id: matter.id, ...what } });
    const commit = { ...effects, writes: [guard, ...writes, audit] };
    const result = await commitOne(this.#parts.storage, commit);
    if (result.ok) return;
    if (result.conflict === "token") {
      throw new OperatorRefused(`${matter.id}: the task is done, or a process is doing it right now`);
    }
    throw decidedMeanwhile(matter.id);
  }
}
