/** Gives a child a new id when its id is taken, for example by an instance of the host. */
import type { CommitResult, EngineStorage } from "../../../storage/storage.ts";
import { childInstance, type ChartSnapshot, type ParentLink } from "../../workflow/chart.ts";

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
    const taken = started[result.index]?.after.parent;
    if (taken === undefined) return false;
    const begun = [...started.flatMap(({ after: { parent } }) => parent ?? []), ...parts.flatMap(unbornOf)];
    // One round of reads: a parent may begin thousands of children anew, and each child may meet a taken id.
    const there = await Promise.all(
      begun.map(({ instance, id, run }) => storage.load(childInstance(instance, id, run))),
    );
    begun.forEach((child, index) => {
      if (child !== taken && there[index] === null) return;
      this.#runs.set(child.instance, { ...this.#runs.get(child.instance), [child.id]: child.run });
    });
    return true;
  }
}

type BeginningChild = Pick<ParentLink, "instance" | "id" | "run">;

/** Ids of children for which the commit has no room: their addresses may be handed out in it. */
const unbornOf = ({ after: { unborn = [] }, history: { instance } }: BeginningPart): BeginningChild[] =>
  unborn.map(({ id, run }) => ({ instance, id, run }));
