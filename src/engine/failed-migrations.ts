/** Migrations that have failed a moment ago: each task of the instance would try the same one again, and fail alike. */
import type { Clock } from "../runtime.ts";
import type { MigrationFailed, MigrationStep } from "./migrations.ts";

// As long as the first backoff of a task. What a migration reads besides the snapshot (tasks, the time) may change meanwhile.
const REMEMBERED_MS = 1_000;
// Beyond it the oldest is forgotten, which costs another try.
const MAX_REMEMBERED = 1_000;

/** One version of an instance on its way to one version of its chart. */
export interface MigrationTry extends Pick<MigrationStep, "instance" | "to"> {
  /** The version of the instance: its steps so far. */
  readonly version: number;
}

interface Remembered extends MigrationTry {
  readonly error: MigrationFailed;
  readonly until: number;
}

export class FailedMigrations {
  readonly #clock: Clock;
  readonly #byInstance = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Throws the error of this migration if it failed less than a second ago. */
  throwRemembered({ instance, to, version }: MigrationTry): void {
    const last = this.#byInstance.get(instance);
    if (last === undefined) return;
    if (last.to === to && last.version === version && this.#clock.now() < last.until) throw last.error;
    this.#byInstance.delete(instance);
  }

  remember({ instance, to, version }: MigrationTry, error: MigrationFailed): void {
    this.#byInstance.set(instance, {
      instance,
      to,
      version,
      error,
      until: this.#clock.now() + REMEMBERED_MS,
    });
    if (this.#byInstance.size <= MAX_REMEMBERED) return;
    for (const oldest of this.#byInstance.keys()) {
      this.#byInstance.delete(oldest);
      return;
    }
  }
}
