/** A child whose id another instance has, such as one of the host, begins under the next id. */
import type { CommitResult, EngineStorage } from "../../storage/storage.ts";
import type { ChartSnapshot } from "./chart.ts";

/** By instance of a parent and id of a child: the run that its next child follows. */
export type TakenRuns = ReadonlyMap<string, Readonly<Record<string, number>>>;

export const NONE_TAKEN: TakenRuns = new Map();

/** An instance that a commit begins, or another part of it. */
interface BeginningPart {
  readonly after: ChartSnapshot;
  readonly start: { readonly id: string } | null;
}

/** Nothing of a commit has happened, because of these. Known to the steps alone, which plan anew. */
class ChildIdsTaken extends Error {
  readonly taken: TakenRuns;

  constructor(taken: TakenRuns) {
    super("ids of children are taken");
    this.taken = taken;
  }
}

/** Throws `ChildIdsTaken` where a commit of these parts was refused because of the id of a child. */
export async function checkChildIds(
  storage: Pick<EngineStorage, "load">,
  parts: readonly BeginningPart[],
  result: CommitResult,
): Promise<void> {
  if (result.ok || result.conflict !== "exists") return;
  const started = parts.filter(({ start }) => start !== null);
  if (started[result.index]?.after.parent === undefined) return;
  // All of them in one go: where a parent begins thousands of children anew, each one may have the id of an earlier one.
  const there = await Promise.all(started.map(({ start }) => storage.load(start?.id ?? "")));
  const taken = new Map<string, Record<string, number>>();
  started.forEach(({ after: { parent } }, index) => {
    if (parent === undefined || (index !== result.index && there[index] === null)) return;
    const runs = taken.get(parent.instance) ?? {};
    runs[parent.id] = parent.run;
    taken.set(parent.instance, runs);
  });
  throw new ChildIdsTaken(taken);
}

/** Calls `act` anew, with the ids that are taken, until it finds none of those of its children taken. */
export async function withFreeIds<T>(act: (taken: TakenRuns) => Promise<T>): Promise<T> {
  for (let taken = NONE_TAKEN; ;) {
    try {
      return await act(taken);
    } catch (error) {
      if (!(error instanceof ChildIdsTaken)) throw error;
      const instances = new Set([...taken.keys(), ...error.taken.keys()]);
      taken = new Map([...instances].map((id) => [id, { ...taken.get(id), ...error.taken.get(id) }]));
    }
  }
}
