/** The view of a running engine for the inspector: charts, and reads of the storage. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";

/** The reads of a storage for a viewer, which never write or take a lease. */
export type InspectedStorage = Pick<EngineStorage, "load" | "history" | "list" | "tasks" | "find">;

/** An engine as a viewer sees it, without what its modules add. */
export interface InspectedKernel {
  readonly workflows: readonly AnyWorkflow[];
  readonly storage: InspectedStorage;
  /** Whether the service handles real money: if so, only viewers whom the host admits may look. */
  isProduction(): boolean;
  /** Acts of viewers; absent when viewers only look. */
  readonly acting?: ViewerActs;
  /** Calls back after each commit of this process; absent where none is made here. Returns the way to stop. */
  readonly onCommit?: (listener: () => void) => () => void;
}

/** An act that a viewer may do on an instance now. */
export interface OfferedAct {
  /** Names it among the acts of its instance, or of what else it is for. */
  readonly key: string;
  /** The label of the button. */
  readonly label: string;
  /** The consequence of the act, as a sentence. */
  readonly consequence: string;
  /** The subject of the act, if it is no instance, such as a list: it may be called as an instance is. */
  readonly on?: string;
  /** True where an event has to be given, or the types of those that may be. */
  readonly takesEvent?: true | readonly string[];
}

/** Names an act among those of all that has one name, such as an instance and a list. */
export const actKey = ({ on, key }: Pick<OfferedAct, "on" | "key">): string =>
  on === undefined ? key : `${on} ${key}`;

/** The viewer's input for an act. */
export interface GivenAct {
  readonly actor: string;
  readonly reason: string;
  /** JSON text of an event, or its type, where the act takes one. */
  readonly event?: string;
  /** Tells a form from all others, so that one which is sent twice acts once where the act begins something. */
  readonly once?: string;
}

/**
 * An act cannot be carried out. The message says why, and nothing has changed.
 *
 * @example
 * ```ts
 * import { ActRefused, createEngine } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 *
 * const { inspected } = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [] });
 * const by = { actor: "ada", reason: "a test" };
 * await inspected.acting?.perform("kitchen", "stop", by).catch((error: unknown) => {
 *   console.log(error instanceof ActRefused); // true
 * });
 * ```
 */
export class ActRefused extends Error {
  override readonly name = "ActRefused";
}

/** Acts of viewers on what has the name: an instance by its id, a webhook, a list. Every act is recorded, with its author and reason. */
export interface ViewerActs {
  offers(instance: string): Promise<readonly OfferedAct[]>;
  /** Returns a sentence about the result. @throws ActRefused */
  perform(instance: string, key: string, given: GivenAct): Promise<string>;
}
