/** Checks that better-sqlite3 is installed and fits this Node. */
import { loadDriver } from "../../../storage/sqlite/driver.ts";
import { explained } from "../../../storage/sqlite/explain.ts";
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import { fine, warning, wrong, type Finding } from "./finding.ts";

/** A missing SQLite driver is an error only where the database is SQLite: PostgreSQL has a driver of its own. */
export async function checkDriver(isNeeded: boolean): Promise<Finding> {
  try {
    const Driver = await loadDriver();
    // Its native part is loaded with the first database.
    new Driver(":memory:", { timeout: 0 }).close();
    return fine("sqlite driver", "better-sqlite3 loads");
  } catch (error) {
    const cause = explained(error);
    const todo = (cause as Error).message;
    const isMissing = cause instanceof StorageUnusable && cause.code === "driver_missing";
    const complain = isMissing && !isNeeded ? warning : wrong;
    return complain("sqlite driver", { found: "better-sqlite3 does not load", todo });
  }
}
