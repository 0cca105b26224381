/** The hooks of modules: an engine calls them as a task begins, before limited work runs, for effects, and after each commit. */
import type { AnyCommit } from "../../storage/storage.ts";
import type { RatedLimit } from "../workflow/own-limit.ts";
import type { CommitLook } from "./kernel/commit-look.ts";
import type { EffectHooks, StartedEffect } from "./kernel/end-task.ts";
import type { ModuleParts } from "./engine-module.ts";

/** Calls the modules that have a hook. A module without one costs a step nothing. */
export class ModuleHooks implements EffectHooks {
  readonly #began: (() => void)[] = [];
  readonly #committed: ((commit: AnyCommit) => void)[] = [];
  readonly #before: NonNullable<ModuleParts["before"]>[] = [];
  readonly #looks: CommitLook[] = [];
  readonly #ends: NonNullable<ModuleParts["ends"]>[] = [];

  add({ began, committed, before, ends, look }: ModuleParts): void {
    if (began !== undefined) this.#began.push(began);
    if (committed !== undefined) this.#committed.push(committed);
    if (before !== undefined) this.#before.push(before);
    if (ends !== undefined) this.#ends.push(ends);
    if (look !== undefined) this.#looks.push(look);
  }

  began(): void {
    for (const each of this.#began) each();
  }

  committed(commit: AnyCommit): void {
    for (const each of this.#committed) each(commit);
  }

  /** The answer of the first module that has one. */
  readonly look: CommitLook = (parts, companions) => {
    for (const each of this.#looks) {
      const looking = each(parts, companions);
      if (looking !== null) return looking;
    }
    return null;
  };

  endedBy(effect: StartedEffect): Promise<void> | null {
    for (const each of this.#ends) {
      const ended = each(effect);
      if (ended !== null) return ended;
    }
    return null;
  }

  async before(limits: readonly RatedLimit[]): Promise<void> {
    for (const each of this.#before) await each(limits);
  }
}
