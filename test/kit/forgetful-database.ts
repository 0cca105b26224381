/** A database that loses its last commits, as an asynchronous standby does that is promoted: it is made anew from the calls before. */
import type { EngineStorage } from "../../storage/storage.ts";
import type { Adapter } from "./adapters.ts";

const WRITING: ReadonlySet<string> = new Set(["install", "commit", "claim", "heartbeat", "release"]);

/** The database behind one storage that any number of engines may share. */
export interface ForgetfulDatabase {
  readonly storage: EngineStorage;
  /** The present moment of its history. */
  moment(): number;
  /** Takes back all that was written since. */
  loseSince(moment: number): Promise<void>;
  close(): Promise<void>;
}

export async function forgetfulDatabase({ make }: Adapter): Promise<ForgetfulDatabase> {
  const written: ((storage: Record<string, Call>) => unknown)[] = [];
  let database = await make();
  let present = await database.open();
  const calls = (): Record<string, Call> => present as unknown as Record<string, Call>;
  const delegated = Object.keys(present).map((name): [string, Call] => [
    name,
    (...given) => {
      if (WRITING.has(name)) written.push((storage) => storage[name]?.(...given));
      return calls()[name]?.(...given);
    },
  ]);
  const close = async (): Promise<void> => {
    await present.close();
    await database.destroy();
  };
  return {
    storage: Object.fromEntries(delegated) as unknown as EngineStorage,
    moment: () => written.length,
    async loseSince(moment) {
      await close();
      database = await make();
      const next = await database.open();
      written.length = moment;
      for (const write of written) await write(next as unknown as Record<string, Call>);
      present = next;
    },
    close,
  };
}

type Call = (...given: readonly unknown[]) => unknown;
