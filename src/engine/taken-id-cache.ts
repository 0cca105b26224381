/** A child whose id another instance has, such as one of the host, begins under the next id. */
import type { CommitResult, EngineStorage } from "../../storage/storage.ts";
import type { ChartSnapshot } from "./chart.ts";

/** An instance that a commit begins, or another part of it. */
interface BeginningPart {
  readonly after: ChartSnapshot;
  readonly start: { readonly id: string } | null;
  readonly history: { readonly instance: string };
}

/** The ids that commits of this process have found taken, until their steps are made. */
export class TakenIdCache {
  readonly #runs = new Map<string, Readonly<Record<string, number>>>();

  /** By the id of a child of this instance: the run that its next child follows. */
  of(instance: string): Readonly<Record<string, number>> | undefined {
    return this.#runs.get(instance);
  }

  /** The steps of these parts are made. */
  forget(parts: readonly BeginningPart[]): void {
    if (this.#runs.size > 0) for (const { history } of parts) this.#runs.delete(history.instance);
  }

  /** Whether the commit of these parts was refused because of the id of a child: decided anew, the step takes other ids. */
  async found(
    storage: Pick<EngineStorage, "load">,
    parts: readonly BeginningPart[],
    result: CommitResult,
  ): Promise<boolean> {
    if (result.ok || result.conflict !== "exists") return false;
    const started = parts.filter(({ start }) => start !== null);
    if (started[result.index]?.after.parent === undefined) return false;
    // All of them in one go: where a parent begins thousands of children anew, each one may have the id of an earlier one.
    const there = await Promise.all(started.map(({ start }) => storage.load(start?.id ?? "")));
    started.forEach(({ after: { parent } }, index) => {
      if (parent === undefined || (index !== result.index && there[index] === null)) return;
      this.#runs.set(parent.instance, { ...this.#runs.get(parent.instance), [parent.id]: parent.run });
    });
    return true;
  }
}
