/** Queries of a host within a commit: which statements a query may be, and what the database says of a refused query. */

/** A statement of your own with its parameters, as `compile()` of Kysely and `toSQL()` of Drizzle give it. */
export type CompiledQuery =
  | { readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly sql: string; readonly params: readonly unknown[] };

/** A query that the database refused for what it holds. */
export interface QueryRefusal {
  /** Its place in the list; null where it was no single one: a deferred constraint, or a serialization. */
  readonly query: number | null;
  /** Why. `raised`: by a trigger of yours. `serialization`: it met others too often (40001, 40P01). */
  readonly kind: "unique" | "check" | "foreign_key" | "not_null" | "exclusion" | "raised" | "serialization";
  /** The constraint as the database names it: `orders_pkey` on PostgreSQL, `orders.id` on SQLite; null without a name. */
  readonly constraint: string | null;
  /** The SQLSTATE of PostgreSQL, or the extended code of SQLite. */
  readonly code: string;
  readonly message: string;
}

/** Names of the kinds of refusals in each database. */
const KINDS: Readonly<Record<string, QueryRefusal["kind"]>> = {
  "23505": "unique",
  "23514": "check",
  "23503": "foreign_key",
  "23001": "foreign_key",
  "23502": "not_null",
  "23P01": "exclusion",
  P0001: "raised",
  "40001": "serialization",
  "40P01": "serialization",
  SQLITE_CONSTRAINT_UNIQUE: "unique",
  SQLITE_CONSTRAINT_PRIMARYKEY: "unique",
  SQLITE_CONSTRAINT_ROWID: "unique",
  SQLITE_CONSTRAINT_CHECK: "check",
  SQLITE_CONSTRAINT_FOREIGNKEY: "foreign_key",
  SQLITE_CONSTRAINT_NOTNULL: "not_null",
  SQLITE_CONSTRAINT_TRIGGER: "raised",
};

/** A query, or their constraints together, with which the database could not do what it says. */
export class QueryFailed extends Error {
  override readonly name = "QueryFailed";
  /** The SQLSTATE or error code of the database, so that the failure is explained as any other. */
  readonly code: string;
  /** Null where the query itself is at fault. */
  readonly refusal: QueryRefusal | null;

  constructor(query: number | null, cause: unknown) {
    const { message, code, constraint } = partsOf(cause);
    super(query === null ? message : `queries.${query}: ${message}`, { cause });
    this.code = code;
    const kind = KINDS[code];
    this.refusal = kind === undefined ? null : { query, kind, constraint, code, message };
  }
}

/** SQLite names the constraint in the message only. */
const NAMED = /constraint failed: (.+)$/;

function partsOf(cause: unknown): Pick<QueryRefusal, "message" | "code" | "constraint"> {
  const { message = String(cause), code, constraint } = (cause ?? {}) as Readonly<Record<string, unknown>>;
  const text = String(message);
  return {
    message: text,
    code: typeof code === "string" ? code : "",
    constraint: typeof constraint === "string" ? constraint : (NAMED.exec(text)?.[1] ?? null),
  };
}

/** One stretch of blanks or one comment: repeated in a loop, since a pattern that repeats it takes exponential time. */
const BLANK = /\s+|--[^\n]*|\/\*[^]*?\*\//y;

/** The text from the word on that says what a statement does. */
export function bare(sql: string): string {
  BLANK.lastIndex = 0;
  let at = 0;
  while (BLANK.test(sql)) at = BLANK.lastIndex;
  return sql.slice(at);
}

const WRITING = /^(insert|update|delete|merge|replace|with)$/i;

/** @throws TypeError for what is none that a commit may hold. */
export function assertQuery(query: CompiledQuery, place: number): void {
  const { sql } = query;
  if (typeof sql !== "string" || !Array.isArray(parametersOf(query))) {
    throw new TypeError(
      `queries.${place}: expected { sql, parameters }, what compile() of Kysely or toSQL() of Drizzle gives`,
    );
  }
  const [word = ""] = /^[a-z]+/i.exec(bare(sql)) ?? [];
  if (!WRITING.test(word)) throw notWriting(place, word === "" ? "nothing" : word.toUpperCase());
}

/** The values for the places of its statement, in order. */
export const parametersOf = (query: CompiledQuery): readonly unknown[] =>
  "parameters" in query ? query.parameters : query.params;

interface WithQueries {
  readonly queries?: readonly unknown[];
}

/** False for what is no commit at all: it is refused by itself, and not with the group that it came in. */
export const hasQueries = (item: WithQueries | null | undefined): boolean => (item?.queries?.length ?? 0) > 0;

/** The first items that may share a physical transaction: an item with queries has a transaction of its own. */
export function sharing<Item extends WithQueries>(items: readonly Item[]): readonly Item[] {
  const alone = items.findIndex(hasQueries);
  return alone === -1 ? items : items.slice(0, Math.max(1, alone));
}

/** A statement that does something else than to write rows. */
export const notWriting = (place: number, what: string): TypeError =>
  new TypeError(
    `queries.${place}: expected one INSERT, UPDATE, DELETE, MERGE or WITH statement that writes rows, and not ${what}: ` +
      "the commit begins and ends its transaction itself; read before it",
  );
