/** Explains errors of PostgreSQL, pg and the network, in sentences that tell what to do. */
import { QueryFailed } from "../compiled-queries.ts";
import { ENDED, GIVEN_UP, OTHER_SERVER, REFUSED } from "./functions/states.ts";
import { type Explanation, StorageUnusable } from "../storage-unusable.ts";

/** The code of an error: PostgreSQL's SQLSTATE, or Node's. A host's query may raise any, which says nothing of the engine's. */
function codeOf(error: unknown): string {
  if (error instanceof QueryFailed) return "";
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether the server has answered with this error, and so has taken back the transaction. No state begins as Node's EPIPE does. */
const isAnswer = (error: unknown): boolean => /^(?!E)[0-9A-Z]{5}$/.test(codeOf(error));

const READ_ONLY = "25006";

/** Two transactions met, and this transaction was taken back: a retry is enough. */
export const isRace = (error: unknown): boolean =>
  /^(40001|40P01)$/.test(error instanceof QueryFailed ? error.code : codeOf(error));

/** Whether an error has one of these codes. */
const coded =
  (...codes: readonly string[]) =>
  (error: unknown): error is Error =>
    codes.includes(codeOf(error));

/** All connections of the pool were in use for too long: nothing was sent. */
const NO_TURN = /timeout exceeded when trying to connect/;

export const isUnserved = (error: unknown): boolean =>
  error instanceof StorageUnusable
    ? isUnserved(error.cause)
    : error instanceof Error && NO_TURN.test(error.message);

/** Another session kept a lock for too long. */
export const isLocked = coded("55P03");

/** The transaction waited too long for a lock, took too long, or was cancelled: so would the same one again. */
export const isHeldUp = (error: unknown): boolean =>
  error instanceof StorageUnusable && /^(55P03|57014)$/.test(codeOf(error.cause));

/** The database holds what refuses the commit. */
export const isRefusal = coded(REFUSED);

/** The group's writer has given it up meanwhile, or is not known any more: nothing of it was kept. */
export const isGivenUp = coded(GIVEN_UP);

/** A handler has ended its transaction itself, or changed how it is isolated. */
export const isEnded = coded(ENDED);

/** The server has answered with an error, and nothing of the group was kept. */
export const isAnswered = (error: unknown): boolean =>
  !isLost(error) && isAnswer(error instanceof StorageUnusable ? error.cause : error);

/** A request that could not be sent: no connection was made. */
export class UnsentError extends Error {
  override readonly name = "UnsentError";

  constructor(cause: unknown) {
    super("no connection to PostgreSQL could be made", { cause });
  }
}

/** A connection that went away before COMMIT was sent: nothing has happened. */
export class DroppedError extends Error {
  override readonly name = "DroppedError";

  constructor(cause: unknown) {
    super("the connection to PostgreSQL went away before COMMIT", { cause });
  }
}

export const readOnly = (): Error =>
  Object.assign(new Error("this server follows another one"), { code: READ_ONLY });

/** Whether the server takes no writes for now, as a standby that is not promoted yet: it has taken the transaction back. */
const isReadOnly = coded(READ_ONLY);

/** The server was not reached, or takes no writes for now: nothing has happened, and it may go on by itself. */
export const isAway = (error: unknown): boolean => error instanceof UnsentError || isReadOnly(error);

/** A pooler in front of the server takes no settings for a connection. */
export const isUnsupported = coded("08P01");

export const isGone = coded("42P01", "42883", "3F000");

/** A different server answers, or a different timeline of the same server. */
export const isOtherServer = (error: unknown): error is Error =>
  codeOf(error instanceof StorageUnusable ? error.cause : error) === OTHER_SERVER;

/** The connection went away before its answer came: what was asked has happened, or has not. */
export const isLost = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof StorageUnusable) &&
  !(error instanceof TypeError) &&
  !(error instanceof QueryFailed) &&
  !(error instanceof DroppedError) &&
  !NO_TURN.test(error.message) &&
  (!isAnswer(error) || /^(08...|57P0[1235])$/.test(codeOf(error)));

const explanations: readonly Explanation[] = [
  {
    of: /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ENOENT)$/,
    code: "unavailable",
    sentence: "PostgreSQL does not answer: start it, or mend the host and port of the URL",
  },
  {
    of: /^57P03$/,
    code: "unavailable",
    sentence: "PostgreSQL is starting up or shutting down: wait until it takes connections",
  },
  {
    of: /^28...$|password must be a string/,
    code: "access_denied",
    sentence: "PostgreSQL does not let this role in: mend the role or password of the URL, or pg_hba.conf",
  },
  {
    of: /not currently accepting connections/,
    code: "cannot_open",
    sentence: "the database of the URL is closed to connections: name another one, or have it opened",
  },
  { of: /^3D000$/, code: "cannot_open", sentence: "the database of the URL does not exist: create it first" },
  {
    of: new RegExp(`^${READ_ONLY}$`),
    code: "replica",
    sentence: "this server takes no writes, as a standby does: give paystate the URL of the primary",
  },
  {
    of: new RegExp(`^${OTHER_SERVER}$`),
    code: "unavailable",
    sentence:
      "another server answers than before: what was decided by what the former one held is decided anew",
  },
  {
    of: /^53100$/,
    code: "disk_full",
    sentence: "the disk is full: make room, and what was committed is still there",
  },
  {
    of: /^53[234]00$/,
    code: "busy",
    sentence: "PostgreSQL has no connection or memory left: raise its limits, or run fewer processes",
  },
  {
    of: /^55P03$/,
    code: "busy",
    sentence:
      "another session kept a lock for too long: find it in pg_locks and pg_stat_activity, and end it",
  },
  {
    of: /^57014$/,
    code: "busy",
    sentence: "a statement took longer than it may: look in pg_stat_activity for what holds the server up",
  },
  {
    of: NO_TURN,
    code: "busy",
    sentence:
      "no connection came free in time: raise the size of the pool, or see what keeps its connections",
  },
  {
    of: /SSL|certificate/,
    code: "cannot_open",
    sentence:
      "PostgreSQL and this program do not agree on TLS: mend `sslmode` of the URL, or the certificate",
  },
];

/** The command that gives a role its missing right. */
function cureFor(error: Error): string {
  if (!error.message.includes("for database")) {
    return "make it the owner of the schema and of all that is in it";
  }
  if ("detail" in error && /CONNECT/.test(String(error.detail))) return "grant it CONNECT on the database";
  return "make it the owner of the schema, or grant it CREATE on the database";
}

/** The error itself, or a clearer error with the original as its cause. */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StorageUnusable) return error;
  if (error instanceof QueryFailed) return error;
  if (error instanceof UnsentError || error instanceof DroppedError) return lost(error.cause);
  if (codeOf(error) === "42501") {
    return new StorageUnusable("no_rights", `the role lacks a right (${error.message}): ${cureFor(error)}`, {
      cause: error,
    });
  }
  const symptoms = [codeOf(error), error.message];
  const found = explanations.find(({ of }) => symptoms.some((symptom) => of.test(symptom)));
  return found === undefined ? error : new StorageUnusable(found.code, found.sentence, { cause: error });
}

/** A connection that was lost or not made, with the sentence that tells what to do. */
export function lost(error: unknown): unknown {
  const known = explained(error);
  if (known !== error || !isLost(error)) return known;
  return new StorageUnusable(
    "unavailable",
    "the connection to PostgreSQL was lost and did not come back in time: see whether the server runs",
    { cause: error },
  );
}
