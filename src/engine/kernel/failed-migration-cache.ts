/** Migrations that have failed a moment ago: each task of the instance would try the same one again, and fail alike. */
import { elapsed, type Clock } from "../../core/runtime.ts";
import type { MigrationFailed, MigrationStep } from "../../workflow/migrations.ts";

// As long as the first backoff of a task. Other inputs of a migration (tasks, the time) may change meanwhile.
const REMEMBERED_MS = 1_000;
// Beyond this number the oldest failure is forgotten, at the cost of a further try.
const MAX_REMEMBERED = 1_000;

/** A failed migration of an instance, and the number of the instance's steps so far. */
type MigrationTry = MigrationStep & { readonly version: number };

export class FailedMigrationCache {
  readonly #clock: Clock;
  readonly #failed = new Map<string, { readonly error: MigrationFailed; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws the error of this migration if it failed less than a second ago. */
  throwRemembered(tried: MigrationTry): void {
    const last = this.#failed.get(nameOf(tried));
    if (last !== undefined && elapsed(this.#clock) < last.until) throw last.error;
  }

  remember(tried: MigrationTry, error: MigrationFailed): void {
    this.#failed.delete(nameOf(tried));
    this.#failed.set(nameOf(tried), { error, until: elapsed(this.#clock) + REMEMBERED_MS });
    const [oldest] = this.#failed.keys();
    if (oldest !== undefined && this.#failed.size > MAX_REMEMBERED) this.#failed.delete(oldest);
  }
}

function nameOf({ instance, to, version }: MigrationTry): string {
  return `${version} ${to} ${instance}`;
}
