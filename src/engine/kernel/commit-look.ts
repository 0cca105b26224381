/** The changes that a look before a commit makes to it, and the refusals that are due to them. */
import type { CommitResult, Write } from "../../../storage/storage.ts";
import { commitCarrier } from "../../workflow/carried.ts";
import type { StartRequest } from "../../workflow/effect-run.ts";
import type { PlannedStep } from "../../workflow/plan-step.ts";

/** A look before a commit of these steps, beside the writes of their caller. Null where there is nothing to look for. */
export type CommitLook = (
  parts: readonly PlannedStep[],
  companions: readonly Write<never>[],
) => Promise<DoneParts | null> | null;

/** The parts of a commit once their effects are done with it, and the instances that begin besides. */
export interface DoneParts {
  readonly parts: readonly PlannedStep[];
  readonly begins: readonly BeginningInstance[];
}

/** How an instance begins. */
export interface BeginningInstance {
  readonly start: StartRequest;
  /** The cause of the start: a timer that has fired with the step. Default: the cause of the rest of the commit. */
  readonly cause?: string;
  /** Whether a timer of it that is due at once fires in the same commit. */
  readonly firesTimers?: boolean;
}

/** Whether a commit was refused by a part behind its first `starts`, `writes` and `carried`. */
export function isRefusedBehind(
  result: CommitResult,
  own: { readonly starts: number; readonly writes: number; readonly carried: number },
): boolean {
  if (result.ok) return false;
  const refused = commitCarrier.refused(result);
  if (refused !== null) return (refused.place ?? own.carried) >= own.carried;
  if (!("index" in result)) return false;
  return result.index >= (result.conflict === "write" ? own.writes : own.starts);
}
