/** A command that is for one instance, or for many at once. */
import type { EventObject } from "xstate";
import type { Print } from "../command.ts";

/** A command, and what it tells instances; undefined where the arguments say that. */
interface ToldCommand {
  readonly name: string;
  readonly event: EventObject | undefined;
}

/** Carries a command out where its arguments are for many instances, and else returns false. */
export type ForMany = (command: ToldCommand, args: readonly string[], print: Print) => Promise<boolean>;
