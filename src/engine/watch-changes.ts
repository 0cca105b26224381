/** Which watches a step begins and which it ends: the difference between the states before and after. Pure. */
import type { Commit, WatchRecord } from "../../storage/storage.ts";
import type { ChartSnapshot, StateMeta } from "./chart.ts";
import { shardOf } from "./shards.ts";
import type { StepFacts } from "./step-facts.ts";

export function watchChanges(facts: StepFacts): Required<Pick<Commit<never>, "watches" | "unwatches">> {
  const { before, step } = facts;
  const { after, metaBefore, metaAfter } = step;
  const watchedBefore = before === null ? [] : watchesOf(facts, before, metaBefore);
  // A final state needs nothing of the ledger any more, even if its meta names watches.
  const watchedAfter = after.status === "active" ? watchesOf(facts, after, metaAfter) : [];
  return {
    watches: missingFrom(watchedBefore, watchedAfter),
    unwatches: missingFrom(watchedAfter, watchedBefore),
  };
}

function watchesOf(
  { workflow, id, life }: StepFacts,
  { context }: ChartSnapshot,
  meta: StateMeta | null,
): WatchRecord[] {
  return (meta?.watches ?? []).flatMap((kind) => {
    const key = workflow.watches[kind]?.(context as never);
    return key === undefined
      ? []
      : [{ kind, key, instance: id, life, workflow: workflow.key, shard: shardOf(key) }];
  });
}

function missingFrom(present: readonly WatchRecord[], wanted: readonly WatchRecord[]): WatchRecord[] {
  return wanted.filter(({ kind, key }) => !present.some((watch) => watch.kind === kind && watch.key === key));
}
