/** The option `withStep` of an effect, which is done in the commit of the step that asks for it. */
// modules: with-step
import type { Write } from "../../storage/storage.ts";
import type { StartRequest } from "./effect-run.ts";

export interface WithStepOption<Params, W> {
  /**
   * Does the effect in the commit of the step that asks for it, in place of a task and a commit of its own. The
   * function reads, and returns further parts of the commit; where what it has read has to hold in the commit, it adds
   * an expectation. When a write or a start of it is refused it is asked again, three times in all. After that, and
   * where it says null or throws, `run` does the effect as its task: the step itself never waits for it.
   */
  readonly withStep?: StepCompanion<Params, W>["done"];
}

/** Its method is compared as methods are: an effect that writes some tables may be done with a step that writes more. */
interface StepCompanion<Params, W> {
  done(step: CommittingStep<Params, W>): Promise<DoneWithStep<W> | null>;
}

/** A step on its way into its commit, as an effect sees it that can be done within that commit. */
export interface CommittingStep<Params, W> {
  readonly instance: string;
  /** The params of the effect, once for each time that the step asks for it. */
  readonly asked: readonly Params[];
  /** Writes of the step, made by `project`. */
  readonly writes: readonly Write<W>[];
  /** Writes of the step's caller in the same commit. */
  readonly companions: readonly Write<W>[];
}

/** The part of a commit that carries out an effect within the commit of its step. */
export interface DoneWithStep<W> {
  /** Writes that replace the writes of the step. */
  readonly writes: readonly Write<W>[];
  readonly starts: readonly StartRequest[];
  /** False when the effect is not finished: then its task is armed too. */
  readonly isWhole: boolean;
}
