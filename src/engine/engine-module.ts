/** The seam between an engine and its modules: what a module may bring, and what it is given. */
import type { AnyCommit, AnyWrite, EngineStorage, InstanceRecord } from "../../storage/storage.ts";
import type { AnyTable } from "../../storage/table.ts";
import type { Random } from "../core/runtime.ts";
import type { RatedLimit } from "../workflow/own-limit.ts";
import type { WorkflowRegistry } from "../workflow/workflow-registry.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";
import type { EngineContext } from "./kernel/engine-context.ts";
import type { ChartRows } from "./kernel/stored-charts.ts";
import type { CheckedEngineOptions } from "./engine-options.ts";
import type { CommitCommands } from "./commit-commands.ts";
import type { CommitLook } from "./kernel/commit-look.ts";
import type { EffectHooks, StartedEffect } from "./kernel/end-task.ts";
import type { EngineStore } from "./kernel/engine-store.ts";
import type { GivenAct, OfferedAct } from "./inspected-engine.ts";
import type { InstanceWaitList } from "./reading/waiting.ts";
import type { FilterCheck } from "./reading/workflow-reads.ts";
import type { SecondKeys } from "./second-keys.ts";
import type { StepHandler } from "./kernel/step-handler.ts";

/**
 * A part of an engine that can be taken away. It is a folder with this value in its `module.ts`, which the list of modules
 * names and nothing else imports. ARCHITECTURE.md tells what each part may do.
 */
export interface EngineModule {
  /** The name of its folder. */
  readonly name: string;
  /** The modules that this module needs: if a needed module goes, this module goes, too. */
  readonly needs?: readonly string[];
  /** Rooms outside of the engine that cannot be without it. */
  readonly neededBy?: readonly string[];
  /** Tables of its own, which are installed with those of the kernel. */
  readonly tables?: readonly AnyTable[];
  /** Workflows of its own, whose names begin with `paystate.`. */
  readonly workflows?: (storage: EngineStorage) => readonly AnyWorkflow[];
  /** Rows beside the stored charts. */
  readonly charts?: ChartRows;
  /** The rows of its tables that go with an instance. */
  readonly removed?: (
    storage: Pick<EngineStorage, "find">,
    instance: InstanceRecord,
  ) => Promise<readonly AnyWrite[]>;
  /** When the earliest thing is due that is no task; null for none. Virtual clocks stop there. */
  readonly nextDue?: (storage: Partial<Pick<EngineStorage, "find">>) => Promise<number | null>;
  /** Its part of one engine. */
  readonly begin?: <W>(engine: ModuleContext<W>) => ModuleParts;
}

/** Removals of the rows that go with an instance, for the commit that removes it. */
export type RemovedRows = (instance: InstanceRecord) => Promise<readonly AnyWrite[]>;

/** The parts of an engine that its modules work with. */
export interface ModuleContext<W> extends EngineContext {
  /** Every call that a module adds goes through its `forHost`: calls of the host ask after a stop, too. */
  readonly storage: EngineStore;
  readonly random: Random;
  /** The options of the host, with defaults. */
  readonly options: CheckedEngineOptions;
  readonly workflows: WorkflowRegistry;
  readonly steps: StepHandler<W>;
  readonly waiting: InstanceWaitList;
  readonly checkFilter: FilterCheck;
  readonly removed: RemovedRows;
  /** The calls that commit, without those of modules. */
  readonly own: CommitCommands<W>;
  /** The tables of all modules. */
  readonly hooks: Pick<EffectHooks, "before">;
  /** Has this process look for what is due. */
  readonly wake: () => void;
  /** The first keys under which this process has seen a second key of a limit. */
  readonly secondKeys: Pick<SecondKeys, "warnOfChange">;
}

/** The work of a module in one engine. */
export interface ModuleParts {
  /** Members of the engine, whose types stand beside the list of modules. One of a name that the engine has stands in its place. */
  readonly calls?: object;
  /** Members of what viewers see of the engine. */
  readonly views?: object;
  readonly acts?: ModuleActs;
  /** A look before an effect or a promise with limits is run. Rejects with `TaskWaitsError` where it has to wait. */
  readonly before?: (limits: readonly RatedLimit[]) => Promise<void>;
  /**
   * A look before a commit of steps, which may read, and changes what they ask for: null where it finds nothing to look for. It
   * is asked again where the commit was refused for the change, and left out after the third.
   */
  readonly look?: CommitLook;
  /** Carries out an effect of a kind that it brings, its end included. Null for one of another kind. */
  readonly ends?: (effect: StartedEffect) => Promise<void> | null;
  /** A word as a task of this process begins. */
  readonly began?: () => void;
  /** A word after each durable commit of this process, in their order. */
  readonly committed?: (commit: AnyCommit) => void;
  /** Work of its own beside that on tasks. */
  readonly loop?: ModuleLoop;
}

/** Acts of viewers on what only a module knows: a name under which something other than an instance takes acts. */
export interface ModuleActs {
  /** The `on` of the acts that it offers. */
  readonly on: string;
  /** Empty for a name of other modules. */
  offers(name: string): Promise<readonly OfferedAct[]>;
  /** Carries out an act that was offered under this name. @throws ActRefused */
  perform(name: string, key: string, given: GivenAct): Promise<string>;
}

/** From `run` to `stop`, any number of times. */
export interface ModuleLoop {
  /** Whether it rests while the engine works for some of its workflows only. */
  readonly needsAll?: boolean;
  run(): void;
  /** Begins nothing any more, and waits for what is in hand, or at most as long. */
  stop(timeoutMs: number): Promise<void>;
  /** Does what is due now; true where there may be more. `settled()` of an engine asks for it. */
  workOnce?(): Promise<boolean>;
}
