/** The engine as a module of payments has it: acting on its own tables, and hearing of commits that may write tables of others. */
import type { AnyCommit } from "../../../storage/storage.ts";
import type { Engine } from "../../engine/index.ts";

/** Commits writes of these tables. */
export type ModuleEngine<Tables> = Omit<Engine<Tables>, "subscribe">;

/** Tells of the commits of this process. */
export interface CommitFeed {
  /** Calls back after each durable commit. Returns the way to stop. */
  subscribe(listener: (committed: { readonly commit: Pick<AnyCommit, "writes"> }) => void): () => void;
}
