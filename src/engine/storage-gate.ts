/**
 * The way to a storage, shut when what works on it has stopped: a task, a look or a loop that goes on all the same, since
 * it waits for something that hears no signal, asks the storage nothing any more. Its host may have closed the storage.
 */
import { StorageUnusable } from "../../storage/storage-unusable.ts";

type Asking = (...given: never[]) => Promise<unknown>;

/** What is under way since the gate was last shut. */
interface UnderWay {
  /** Calls of the host: as long as one lasts, the storage is there by the host's own word. */
  host: number;
  asked: number;
  /** Calls back when nothing is under way any more. */
  readonly waiting: (() => void)[];
}

/** Answered without asking the database, or done on a connection of a host or handler, which ends by its signal. */
const AT_ONCE: ReadonlySet<string> = new Set(["onWake", "building", "within", "transact"]);

export class StorageGate {
  #isShut = false;
  #now: UnderWay = { host: 0, asked: 0, waiting: [] };
  /** Calls of the host that have not ended. */
  readonly #ofHost = new Set<Promise<unknown>>();

  /** The same storage behind this gate. The gate counts the calls under way, for which `shut` waits. */
  guarding<Storage extends object>(storage: Storage): Storage {
    const methods = Object.entries(storage).map(([name, method]: [string, Asking]) => [
      name,
      AT_ONCE.has(name) ? method : (...given: never[]) => this.#ask(() => method(...given)),
    ]);
    return Object.fromEntries(methods) as Storage;
  }

  /** The same methods, as the host calls them: also after a stop, when it alone knows that the storage is open. */
  forHost<Methods extends { readonly [Name in keyof Methods]: Asking }>(methods: Methods): Methods {
    const calls = Object.entries<Asking>(methods).map(([name, method]) => [
      name,
      (...given: never[]) => this.#asHost(() => method(...given)),
    ]);
    return Object.fromEntries(calls) as Methods;
  }

  open(): void {
    this.#isShut = false;
  }

  async hostRests(): Promise<void> {
    await Promise.allSettled(this.#ofHost);
  }

  /** From now on only later calls of the host pass. Resolves when what has passed before is answered. */
  async shut(): Promise<void> {
    if (this.#isShut) return;
    this.#isShut = true;
    const before = this.#now;
    this.#now = { host: 0, asked: 0, waiting: [] };
    while (before.asked > 0) await leaving(before);
  }

  #ask<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const now = this.#now;
    if (this.#isShut && now.host === 0) return Promise.reject(stopped());
    return during(now, "asked", call);
  }

  #asHost<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const ended = during(this.#now, "host", call).finally(() => this.#ofHost.delete(ended));
    this.#ofHost.add(ended);
    return ended;
  }
}

async function during<Answer>(
  now: UnderWay,
  count: "host" | "asked",
  call: () => Promise<Answer>,
): Promise<Answer> {
  now[count] += 1;
  try {
    return await call();
  } finally {
    now[count] -= 1;
    if (now[count] === 0) for (const wake of now.waiting.splice(0)) wake();
  }
}

/** Resolves when a count of these has come to nothing. */
function leaving({ waiting }: UnderWay): Promise<void> {
  return new Promise((resolve) => waiting.push(resolve));
}

const stopped = (): StorageUnusable =>
  new StorageUnusable(
    "unavailable",
    "it has stopped, and what was under way asks the storage nothing any more",
  );
