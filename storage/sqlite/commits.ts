/** Commits to SQLite, many in one physical transaction, each kept or taken back on its own. */
import { applyCommit, type CommitTarget } from "../apply-commit.ts";
import { failed, isTrouble, takenBack, unknown } from "../commit-answers.ts";
import { hasQueries, QueryFailed, sharing } from "../compiled-queries.ts";
import type { AnyCommit, CommitAnswer, CommitResult } from "../storage.ts";
import { type Connection, UncertainCommitError } from "./connection.ts";
import { codeOf, explained } from "./explain.ts";

/** Most commits in one physical transaction, so that neither other processes nor the event loop wait long. */
const MAX_ITEMS = 256;
/** A transaction executes for this time at most. Few large transactions finish sooner: each waits for the disk once. */
const MAX_EXECUTION_MS = 10;

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
  readonly connection: Connection;
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
    const told = await together(context, sharing(items.slice(answers.length, answers.length + most)));
    answers.push(...told);
    // The trouble that stops one transaction stops all, and is waited for only once.
    const trouble = told.find(isTrouble);
    const untried = trouble === undefined ? [] : items.slice(answers.length);
    answers.push(...untried.map(() => failed(trouble?.error)));
  }
  return answers;
}

/**
 * Commits as many items as one physical transaction may hold. Conflicts are rare, and a savepoint costs half as much
 * again as its item (31 µs in place of 20): at first no item has a savepoint, and the first refused item takes the
 * whole attempt back.
 */
async function together(context: CommitContext, batch: readonly AnyCommit[]): Promise<CommitAnswer[]> {
  let tried = 0;
  const apply = (item: AnyCommit): CommitResult => {
    tried += 1;
    return applyCommit(item, context.target);
  };
  const attempt = (): CommitResult[] => {
    tried = 0;
    // A refused commit leaves its changes behind until the rollback, so the following commits are not judged beside them.
    return applied(context, batch, { apply, goesOn: isOk });
  };
  try {
    const unhindered = await context.connection.write(attempt, (results) => results.every(isOk));
    if (unhindered.every(isOk) || batch.length === 1) return unhindered;
  } catch (error) {
    if (error instanceof UncertainCommitError) return batch.slice(0, tried).map(() => unknown(error.cause));
    if (tried === 0 || batch.length === 1) return batch.map((item) => takenBack(ofQueries(item, error)));
  }
  return itemByItem(context, batch);
}

/**
 * Applies the batch again with a savepoint for each commit, so that a refused or failed commit takes back only
 * itself.
 */
async function itemByItem(context: CommitContext, batch: readonly AnyCommit[]): Promise<CommitAnswer[]> {
  let tried: CommitAnswer[] = [];
  const apply = (item: AnyCommit): CommitAnswer => {
    const answer = guarded(context, item);
    tried.push(answer);
    return answer;
  };
  const attempt = (): CommitAnswer[] => {
    tried = [];
    return applied(context, batch, { apply, goesOn: () => true });
  };
  try {
    return await context.connection.write(attempt);
  } catch (error) {
    if (error instanceof UncertainCommitError) return tried.map((answer) => uncertain(answer, error.cause));
    if (isTrouble(failed(error))) return batch.map(() => failed(error));
    // A full disk, for example, has taken back all items, which are carried out anew, each in a transaction of its own.
    return committed(context, batch.slice(0, tried.length + 1), 1);
  }
}

function guarded({ connection, target }: CommitContext, item: AnyCommit): CommitAnswer {
  try {
    return connection.savepoint(() => applyCommit(item, target), isOk);
  } catch (error) {
    if (!connection.isInTransaction) throw error;
    return failed(explained(error));
  }
}

/**
 * Applies items one after another, until the time of one transaction is up, or a result ends the attempt. Tasks with room are
 * admitted once, behind the last of the commits, each of which tells so.
 */
function applied<A extends CommitAnswer>(
  { target, elapsed }: CommitContext,
  batch: readonly AnyCommit[],
  { apply, goesOn }: { readonly apply: (item: AnyCommit) => A; readonly goesOn: (result: A) => boolean },
): A[] {
  const results: A[] = [];
  const end = elapsed() + MAX_EXECUTION_MS;
  for (const item of batch) {
    const result = apply(item);
    results.push(result);
    if (!goesOn(result) || elapsed() >= end) break;
  }
  const admits = target.tasks.settle();
  return admits ? results.map((result) => (result.ok ? { ...result, admits } : result)) : results;
}
