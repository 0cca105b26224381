/** How a test file learns which project runs it: two of them have files in common. */

/** The variable that each project gives its tests. */
export const PROJECT_VARIABLE = "PAYSTATE_TEST_PROJECT";

/** The name of the project that runs; `rest` where nobody says. */
export const PROJECT = process.env[PROJECT_VARIABLE] ?? "rest";

/**
 * The kinds of databases that this project tests: `rest` those that need no server, `postgres` PostgreSQL alone, and every
 * other project all.
 * @param withoutServer those that need none
 * @param postgres those on PostgreSQL; none where it is not installed
 */
export function databasesOfProject<Kind>(
  withoutServer: readonly Kind[],
  postgres: readonly Kind[],
): readonly Kind[] {
  if (PROJECT === "rest") return withoutServer;
  return PROJECT === "postgres" ? postgres : [...withoutServer, ...postgres];
}
