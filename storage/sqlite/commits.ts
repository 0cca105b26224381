/** Commits to SQLite, many in one physical transaction, each kept or taken back on its own. */
import { failed, isTrouble, takenBack, unknown } from "../commit-answers.ts";
import { hasQueries, QueryFailed, sharing } from "../compiled-queries.ts";
import type { AnyCommit, CommitAnswer, CommitResult } from "../storage.ts";
import { applyCommit, type CommitTarget } from "./apply-commit.ts";
import { UncertainCommitError } from "./connection.ts";
import { codeOf, explained } from "./explain.ts";

/** Most commits in one physical transaction, so that neither other processes nor the event loop wait long. */
const MAX_ITEMS = 256;
/** A transaction executes for this time at most. Few large transactions finish sooner: each waits for the disk once. */
const MAX_EXECUTION_MS = 10;

/**
 * Conflicts are rare, and a savepoint costs half as much again as its item (31 µs in place of 20): so many items share one
 * savepoint, and after a refusal each goes alone.
 */
const SLICE = 16;

const admitting = (answer: CommitAnswer): CommitAnswer => (answer.ok ? { ...answer, admits: true } : answer);

const isOk = ({ ok }: CommitResult): boolean => ok;

/**
 * The answer of a transaction that may be lost: a refusal is unknown too, since it was judged beside commits that may
 * be lost.
 */
const uncertain = (answer: CommitAnswer, cause: unknown): CommitAnswer =>
  !answer.ok && answer.conflict === "failed" ? answer : unknown(cause);

/** SQLite judges a deferred foreign key at COMMIT, and tables of the engine have none. */
const ofQueries = (item: AnyCommit, error: unknown): unknown =>
  hasQueries(item) && codeOf(error) === "SQLITE_CONSTRAINT_FOREIGNKEY" && !(error instanceof QueryFailed)
    ? new QueryFailed(null, error)
    : error;

interface CommitContext {
  readonly target: CommitTarget;
  /** A clock in milliseconds that bounds a transaction. */
  readonly elapsed: () => number;
}

/** Commits each item apart from the others, of which one physical transaction has so many at most. */
export async function committed(
  context: CommitContext,
  items: readonly AnyCommit[],
  most: number = MAX_ITEMS,
): Promise<CommitAnswer[]> {
  const answers: CommitAnswer[] = [];
  while (answers.length < items.length) {
    if (answers.length > 0) await new Promise(setImmediate);
    const told = await commitGroup(context, sharing(items.slice(answers.length, answers.length + most)));
    answers.push(...told);
    // The trouble that stops one transaction stops all, and is waited for only once.
    const trouble = told.find(isTrouble);
    const untried = trouble === undefined ? [] : items.slice(answers.length);
    answers.push(...untried.map(() => failed(trouble?.error)));
  }
  return answers;
}

/** Commits as many items as one physical transaction may hold. A group of one slice has no savepoint at first. */
function commitGroup(context: CommitContext, batch: readonly AnyCommit[]): Promise<CommitAnswer[]> {
  return batch.length > SLICE
    ? commitApart(context, batch, (attempt) => attempt.applySlices(batch))
    : commitSlice(context, batch);
}

/** The first refused item takes the whole transaction back: then the items are applied singly. */
async function commitSlice(context: CommitContext, batch: readonly AnyCommit[]): Promise<CommitAnswer[]> {
  const attempt = new Attempt(context);
  try {
    const isWhole = await context.target.connection.write(
      () => attempt.run(() => attempt.apply(batch)),
      Boolean,
    );
    if (isWhole || batch.length === 1) return attempt.answers;
  } catch (error) {
    if (error instanceof UncertainCommitError) return attempt.answers.map(() => unknown(error.cause));
    if (!attempt.hasBegun || batch.length === 1) {
      return batch.map((item) => takenBack(ofQueries(item, error)));
    }
  }
  return commitApart(context, batch, (singly) => singly.applySingly(batch));
}

/** Commits items of which a refused or failed one takes back only itself. */
async function commitApart(
  context: CommitContext,
  batch: readonly AnyCommit[],
  apply: (attempt: Attempt) => void,
): Promise<CommitAnswer[]> {
  const attempt = new Attempt(context);
  try {
    await context.target.connection.write(() => attempt.run(() => apply(attempt)));
    return attempt.answers;
  } catch (error) {
    const { answers } = attempt;
    if (error instanceof UncertainCommitError) return answers.map((answer) => uncertain(answer, error.cause));
    if (isTrouble(failed(error))) return batch.map(() => failed(error));
    // A full disk, for example, has taken back all items, which are carried out anew, each in a transaction of its own.
    return committed(context, batch.slice(0, answers.length + 1), 1);
  }
}

/** One run of a physical transaction: it applies item after item, until its time is up. */
class Attempt {
  readonly #context: CommitContext;
  #answers: CommitAnswer[] = [];
  #end = -Infinity;
  hasBegun = false;

  constructor(context: CommitContext) {
    this.#context = context;
  }

  /** The applied items, in order. */
  get answers(): CommitAnswer[] {
    return this.#answers;
  }

  /**
   * Runs the transaction, once more where another process had the lock at its end. Tasks with room are admitted once, behind the
   * last of the commits, each of which tells so.
   */
  run<A>(apply: () => A): A {
    const { elapsed, target } = this.#context;
    this.hasBegun = true;
    this.#answers = [];
    this.#end = elapsed() + MAX_EXECUTION_MS;
    const applied = apply();
    if (target.tasks.settle()) this.#answers = this.#answers.map(admitting);
    return applied;
  }

  get #isOver(): boolean {
    return this.#context.elapsed() >= this.#end;
  }

  /** False where an item is refused: its changes stay until the caller takes all back, so nothing is judged beside them. */
  apply(items: readonly AnyCommit[]): boolean {
    for (const item of items) {
      const answer = applyCommit(item, this.#context.target);
      this.#answers.push(answer);
      if (!answer.ok) return false;
      if (this.#isOver) break;
    }
    return true;
  }

  applySlices(items: readonly AnyCommit[]): void {
    do {
      const done = this.#answers.length;
      const slice = items.slice(done, done + SLICE);
      if (this.#isApplied(slice)) continue;
      this.#answers.length = done;
      this.applySingly(slice);
    } while (this.#answers.length < items.length && !this.#isOver);
  }

  #isApplied(slice: readonly AnyCommit[]): boolean {
    const { connection } = this.#context.target;
    try {
      return connection.savepoint(() => this.apply(slice), Boolean);
    } catch (error) {
      if (!connection.isInTransaction) throw error;
      return false;
    }
  }

  applySingly(items: readonly AnyCommit[]): void {
    for (const item of items) {
      this.#answers.push(this.#answerTo(item));
      if (this.#isOver) return;
    }
  }

  #answerTo(item: AnyCommit): CommitAnswer {
    const { target } = this.#context;
    const { connection } = target;
    try {
      return connection.savepoint(() => applyCommit(item, target), isOk);
    } catch (error) {
      if (!connection.isInTransaction) throw error;
      return failed(explained(error));
    }
  }
}
