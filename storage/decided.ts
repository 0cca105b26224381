/** Reads the database's decision on commits, or throws the error that prevented a decision. */
import type { CommitAnswer, CommitResult } from "./storage.ts";

/**
 * The answer of the database was lost, and the database could not be asked again in time: the commit has happened, may
 * still happen, or never will. Nothing of it is told to subscribers, and nothing decides it again: look before you do.
 *
 * @example
 * ```ts
 * import { CommitUnknown, createEngine, workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine } from "xstate";
 *
 * const lights = workflow(createMachine({ id: "light", initial: "off", states: { off: {} } }))({ version: 1 });
 * const engine = createEngine({ storage: await sqliteStorage(":memory:"), workflows: [lights] });
 * try {
 *   await engine.start(lights, { id: "kitchen", input: undefined });
 * } catch (error) {
 *   if (!(error instanceof CommitUnknown)) throw error; // known not to have happened
 * }
 * console.log((await engine.read(lights, "kitchen"))?.value); // off
 * ```
 */
export class CommitUnknown extends Error {
  override readonly name = "CommitUnknown";

  constructor(cause: unknown) {
    super("the answer of the database was lost: the commit may have happened", { cause });
  }
}

interface Committing<Item> {
  commit(items: readonly Item[]): Promise<readonly CommitAnswer[]>;
}

/** Durable or refused when it resolves. Throws `CommitUnknown` for a lost answer; after other errors nothing has happened. */
export async function commitOne<Item>(storage: Committing<Item>, item: NoInfer<Item>): Promise<CommitResult> {
  const [answer] = await storage.commit([item]);
  return decided(answer);
}

/** Separate commits. Throws as `commitOne` does for the first undecided one; later ones may have been applied. */
export async function commitEach<Item>(
  storage: Committing<Item>,
  items: readonly NoInfer<Item>[],
): Promise<readonly CommitResult[]> {
  return (await storage.commit(items)).map(decided);
}

export function decided(answer: CommitAnswer | undefined): CommitResult {
  if (answer === undefined) throw new CommitUnknown(new Error("storage answered too few commits"));
  if (answer.ok) return answer;
  switch (answer.conflict) {
    case "failed":
      throw answer.error;
    case "unknown":
      throw new CommitUnknown(answer.error);
    default:
      return answer;
  }
}
