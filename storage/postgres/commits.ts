/** Commits to PostgreSQL: a group is one round trip and one transaction, and each item is kept or taken back on its own. */
import type { GivenTables } from "../sql/given-tables.ts";
import { failed, isTrouble, takenBack, unknown } from "../commit-answers.ts";
import { assertQuery, type CompiledQuery, hasQueries, QueryFailed, sharing } from "../compiled-queries.ts";
import type { AnyCommit, CommitAnswer, CommitFailure } from "../storage.ts";
import { StorageUnusable } from "../storage-unusable.ts";
import type { Database } from "./database.ts";
import type { DatabaseClock } from "./database-clock.ts";
import {
  DroppedError,
  explained,
  isAnswered,
  isAway,
  isGivenUp,
  isHeldUp,
  isOtherServer,
  isRace,
  isRefusal,
  isUnserved,
} from "./explain.ts";
import { functionNames } from "./functions.ts";
import { GroupWrites } from "./prepare-writes.ts";
import { persistent, raced, SOON } from "./retries.ts";
import { areApart, joined, type CommitRows, runOf } from "./runs.ts";
import { AnswerLost, type Told, type ToldGroup, type WriterPool } from "./writer-pool.ts";

/** The most commits in one transaction: enough to share its cost, and others do not wait long for its locks. */
const MAX_GROUP = 128;

/** The most commits with a subtransaction each: PostgreSQL finds 64 of a session quickly, in shared memory. */
const MAX_SEPARATE = 48;

/** How long a group that nothing has happened of waits for the server; with the last try it is 15 s at most. */
const WAITING_MS = 10_000;

/** How often a commit with queries is sent again where its connection went away: a query itself may be the cause. */
const MAX_RESENDS = 3;

interface Group {
  readonly items: readonly AnyCommit[];
  readonly runs: readonly CommitRows[];
  /** Why the item behind these cannot be stored; null where there is none. */
  readonly fault: unknown;
  /** Statements of the host, of an item that is a group of its own. */
  readonly queries: readonly CompiledQuery[];
  readonly needs: ReturnType<GroupWrites["needs"]>;
}

/** The dependencies of every kind of commit. */
export interface CommitContext {
  readonly database: Database;
  readonly tables: GivenTables;
  readonly clock: DatabaseClock;
  readonly writers: WriterPool;
}

/** @param most How many items one transaction takes: one, where the server did not say because of which it took a group back. */
export async function committed(
  context: CommitContext,
  items: readonly AnyCommit[],
  most = MAX_GROUP,
): Promise<CommitAnswer[]> {
  const answers: CommitAnswer[] = [];
  while (answers.length < items.length) {
    const told = await grouped(context, sharing(items.slice(answers.length, answers.length + most)));
    answers.push(...told);
    const trouble = told.find(isTrouble);
    if (trouble === undefined || !(await isServerAway(context, trouble))) continue;
    answers.push(...items.slice(answers.length).map(() => failed(trouble.error)));
  }
  return answers;
}

/**
 * Commits as many items as one transaction takes: the items before the first that no table can hold. Together, when
 * no two items touch the same rows; when an item is refused or fails, nothing was kept, and each item is sent alone.
 */
async function grouped(context: CommitContext, items: readonly AnyCommit[]): Promise<CommitAnswer[]> {
  let group = prepared(context, items);
  if (group.items.length === 0) return [failed(group.fault)];
  try {
    if (areApart(group.items)) {
      const answers = await together(context, group);
      if (answers !== null) return answers;
    }
    group = { ...group, items: group.items.slice(0, MAX_SEPARATE) };
    return await carriedOut(context, group, group.runs.slice(0, MAX_SEPARATE));
  } catch (error) {
    if (error instanceof AnswerLost) return group.items.map(() => unknown(error.cause));
    if (isOtherServer(error)) return anew(context, group.items, error);
    if (isUnavailable(error)) return group.items.map(() => failed(error));
    if (group.items.length === 1) return [refusal(error) ?? takenBack(ofQueries(group, error))];
    return committed(context, items.slice(0, group.items.length), 1);
  }
}

/** Null when one of several was refused or failed, and so nothing was kept. */
async function together(context: CommitContext, group: Group): Promise<CommitAnswer[] | null> {
  try {
    return await carriedOut(context, group, [joined(group.runs)]);
  } catch (error) {
    const isOfServer = isHeldUp(error) || isUnavailable(error) || !isAnswered(error);
    if (group.items.length === 1 || isOfServer) throw error;
    return null;
  }
}

/** Each alone, on a server not known when it was decided: a stamp shows another history, the version of a row does not. */
async function anew(
  context: CommitContext,
  items: readonly AnyCommit[],
  error: unknown,
): Promise<CommitAnswer[]> {
  const answers: CommitAnswer[] = [];
  for (const item of items) {
    answers.push(...(countsVersions(item) ? [failed(error)] : await grouped(context, [item])));
  }
  return answers;
}

/** Whether the server takes no commit, not even an unhindered one. Else only this commit met a lock or took too long. */
async function isServerAway(context: CommitContext, { conflict, error }: CommitFailure): Promise<boolean> {
  if (conflict === "unknown" || isUnavailable(error)) return true;
  return (await grouped(context, [{}])).some(isTrouble);
}

/**
 * Sends the group until it is known to have happened, and never twice. A server that is away is waited for: nothing has
 * happened then. Throws `AnswerLost` where what has happened cannot be found out.
 */
async function carriedOut(
  context: CommitContext,
  { items, needs, queries }: Group,
  runs: readonly CommitRows[],
): Promise<CommitAnswer[]> {
  const { database, writers } = context;
  for (let resends = 0; ; resends += 1) {
    let drops = 0;
    const isAgain = (error: unknown): boolean => {
      if (error instanceof DroppedError) drops += 1;
      return isAway(error) || isGivenUp(error) || (error instanceof DroppedError && drops <= MAX_RESENDS);
    };
    const sent = () =>
      writers.sent((numbered) => {
        const request = { ...needs, runs, ...numbered };
        return raced(() =>
          queries.length === 0
            ? database.call(functionNames.commit, request)
            : database.commitWith(request, queries),
        );
      });
    const told = await persistent(sent, { ...SOON, maxRetryTime: WAITING_MS }, isAgain).catch(
      (error: unknown) => {
        throw explained(error);
      },
    );
    if (!("again" in told)) return answersFor(items, told);
    if (queries.length > 0 && resends === MAX_RESENDS) throw new QueryFailed(null, told.again);
  }
}

/** Prepares the items before the first that no table can hold, with the reason why that item cannot be stored. */
function prepared({ tables, clock }: CommitContext, items: readonly AnyCommit[]): Group {
  const writes = new GroupWrites(tables, clock);
  const runs: CommitRows[] = [];
  let fault: unknown = null;
  for (const item of items) {
    try {
      item.queries?.forEach(assertQuery);
      runs.push(runOf(item, writes));
    } catch (error) {
      fault = error;
      break;
    }
  }
  const storable = items.slice(0, runs.length);
  const queries = storable.flatMap((item) => item.queries ?? []);
  return { items: storable, runs, fault, queries, needs: writes.needs() };
}

/** Whether the item is refused unless a row of the caller's has a version, or holds what may mean another row there. */
const countsVersions = (item: AnyCommit): boolean =>
  hasQueries(item) ||
  (item.writes ?? []).some(
    (write) => "expectVersion" in write || ("set" in write && write.expectedVersion !== undefined),
  );

/** After all retries a race is a refusal of the queries: the engine's own rows are locked in one order. */
const ofQueries = ({ queries }: Group, error: unknown): unknown =>
  queries.length > 0 && isRace(error) ? new QueryFailed(null, error) : error;

/** The server was away, or its connections were taken, for as long as it is waited for. */
const isUnavailable = (error: unknown): boolean =>
  error instanceof StorageUnusable && (/^(unavailable|replica)$/.test(error.code) || isUnserved(error));

export function answersFor(
  items: readonly AnyCommit[],
  { answers, parked, admits }: ToldGroup,
): CommitAnswer[] {
  return items.map(({ arms = [] }, index) => {
    const answer = answerOf(answers[index] ?? "ok");
    const own = arms.map(({ task }) => task.id).filter((id) => parked.includes(id));
    if (!answer.ok) return answer;
    return { ok: true, ...(own.length > 0 && { parked: own }), ...(admits && { admits }) };
  });
}

/** The database's answer to a commit that was sent alone; null when the commit failed. */
export const refusal = (error: unknown): CommitAnswer | null =>
  isRefusal(error) ? answerOf(error.message) : null;

/** From the word for it: `ok`, or the conflict and the place of what was refused. */
export function answerOf(told: Told): CommitAnswer {
  if (typeof told !== "string") {
    return failed(explained(Object.assign(new Error(told.message), { code: told.code })));
  }
  const [conflict, index] = told.split("/");
  if (conflict === "ok") return { ok: true };
  if (conflict === "exists" || conflict === "write") return { ok: false, conflict, index: Number(index) };
  return { ok: false, conflict: conflict === "step" ? "step" : "token" };
}
