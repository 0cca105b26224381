/** What a project of the tests tells its files: its name, since two have files in common, and their time. */

/** The variable that each project gives its tests. */
export const PROJECT_VARIABLE = "PAYSTATE_TEST_PROJECT";

/** The variable with the time of a file of explorations, in milliseconds; not set where the command bounds none. */
export const FILE_SHARE_VARIABLE = "PAYSTATE_EXPLORE_FILE_MS";

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
