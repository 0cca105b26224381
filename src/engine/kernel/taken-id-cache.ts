/** Gives a child a new id when its id is taken, for example by an instance of the host. */
import type { CommitResult, EngineStorage } from "../../../storage/storage.ts";
import type { ChartSnapshot } from "../../workflow/chart.ts";

interface BeginningPart {
  readonly after: ChartSnapshot;
  readonly start: { readonly id: string } | null;
  readonly history: { readonly instance: string };
}

/** The ids that commits of this process have found taken, until their steps are made. */
export class TakenIdCache {
  readonly #runs = new Map<string, Readonly<Record<string, number>>>();

  /** By child id: the run number that the next child follows. */
  of(instance: string): Readonly<Record<string, number>> | undefined {
    return this.#runs.get(instance);
  }

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
    // One round of reads: a parent may begin thousands of children anew, and each child may meet a taken id.
    const there = await Promise.all(started.map(({ start }) => storage.load(start?.id ?? "")));
    started.forEach(({ after: { parent } }, index) => {
      if (parent === undefined || (index !== result.index && there[index] === null)) return;
      this.#runs.set(parent.instance, { ...this.#runs.get(parent.instance), [parent.id]: parent.run });
    });
    return true;
  }
}
