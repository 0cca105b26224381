/**
 * The way to a storage: its caller's tables are installed first; ids are texts; the event loop has its turns; and it is shut
 * when what works on it has stopped: a task, a look or a loop that goes on all the same uses the storage no more; it may wait
 * for something that hears no signal. Its host may have closed the storage.
 */
import { StorageUnusable } from "../../../storage/storage-unusable.ts";
import type { AnyCommit, EngineStorage } from "../../../storage/storage.ts";
import type { AnyTable } from "../../../storage/table.ts";
import { isTurnOver, nextTurn } from "../../core/runtime.ts";
import { checkText } from "../../workflow/instance-id.ts";

type Asking = (...given: never[]) => Promise<unknown>;

/** Calls under way since the store was last shut. */
interface UnderWay {
  /** Calls of the host: as long as one lasts, the storage is there by the host's own word. */
  host: number;
  asked: number;
  /** Calls back when nothing is under way any more. */
  readonly waiting: (() => void)[];
}

/** A storage whose methods are the store's own properties, so that a copy with one of them changed still goes through it. */
export class EngineStore implements EngineStorage {
  readonly #storage: EngineStorage;
  readonly #tables: readonly AnyTable[];
  #isInstalled: boolean;
  #installing: Promise<void> | null = null;
  #answered: (items: readonly AnyCommit[]) => void = () => {};
  #isShut = false;
  #now: UnderWay = { host: 0, asked: 0, waiting: [] };
  /** Calls of the host that have not ended. */
  readonly #ofHost = new Set<Promise<unknown>>();
  /** Whether the present call follows another one without awaiting, and the turn that both wait for. */
  #isFollowed = false;
  #turn: Promise<void> | null = null;
  declare readonly within?: NonNullable<EngineStorage["within"]>;
  declare readonly transact?: NonNullable<EngineStorage["transact"]>;
  declare readonly time?: NonNullable<EngineStorage["time"]>;

  /** @param tables Installed once, before the first call that needs them. Where that fails the next call tries again. */
  constructor(storage: EngineStorage, tables: readonly AnyTable[]) {
    this.#storage = storage;
    this.#tables = tables;
    this.#isInstalled = tables.length === 0;
    // Done on a connection of a host or a handler, which ends by its signal. The tables are there: a commit came before.
    if (storage.within !== undefined) this.within = storage.within.bind(storage);
    if (storage.transact !== undefined) this.transact = storage.transact.bind(storage);
    const time = storage.time?.bind(storage);
    if (time !== undefined) this.time = (now) => this.#ask(() => time(now));
  }

  readonly install: EngineStorage["install"] = (tables) => this.#ask(() => this.#storage.install(tables));
  readonly find: EngineStorage["find"] = (query) => this.#askReady(() => this.#storage.find(query));
  readonly tally: EngineStorage["tally"] = (query) => this.#askReady(() => this.#storage.tally(query));
  readonly claim: EngineStorage["claim"] = (request) => this.#askReady(() => this.#storage.claim(request));
  readonly commit: EngineStorage["commit"] = async (items) => {
    const answers = await this.#askReady(() => this.#storage.commit(items));
    this.#answered(items);
    return answers;
  };
  readonly heartbeat: EngineStorage["heartbeat"] = (request) =>
    this.#ask(() => this.#storage.heartbeat(request));
  readonly release: EngineStorage["release"] = (request) => this.#ask(() => this.#storage.release(request));
  readonly load: EngineStorage["load"] = (id) =>
    this.#ask(() => {
      checkText(id);
      return this.#storage.load(id);
    });
  readonly nextDue: EngineStorage["nextDue"] = (...asked) => this.#ask(() => this.#storage.nextDue(...asked));
  readonly history: EngineStorage["history"] = (instance, page) =>
    this.#ask(() => {
      checkText(instance);
      return this.#storage.history(instance, page);
    });
  readonly lease: EngineStorage["lease"] = (request) => this.#ask(() => this.#storage.lease(request));
  readonly list: EngineStorage["list"] = (listing) => this.#ask(() => this.#storage.list(listing));
  readonly size: EngineStorage["size"] = () => this.#ask(() => this.#storage.size());
  readonly tasks: EngineStorage["tasks"] = (listing) =>
    this.#ask(() => {
      if (listing.order === "instance") checkText(listing.instance);
      return this.#storage.tasks(listing);
    });
  readonly onWake: EngineStorage["onWake"] = (listener) => this.#storage.onWake(listener);
  readonly close: EngineStorage["close"] = () => this.#ask(() => this.#storage.close());

  /** Calls back when commits have been answered, those that were refused included. There is one listener. */
  onAnswered(listener: (items: readonly AnyCommit[]) => void): void {
    this.#answered = listener;
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

  async #ask<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const now = this.#now;
    if (this.#isShut && now.host === 0) throw stopped();
    now.asked += 1;
    try {
      const turn = this.#nextTurn();
      if (turn !== null) await turn;
      return await call();
    } finally {
      left(now, "asked");
    }
  }

  #askReady<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    return this.#ask(() => (this.#isInstalled ? call() : (this.#installing ??= this.#install()).then(call)));
  }

  async #install(): Promise<void> {
    try {
      await this.#storage.install(this.#tables);
      this.#isInstalled = true;
    } finally {
      this.#installing = null;
    }
  }

  /** Null while this turn has time left. Calls without an await share a turn: it sees one state. */
  #nextTurn(): Promise<void> | null {
    if (!this.#isFollowed) {
      this.#isFollowed = true;
      queueMicrotask(() => (this.#isFollowed = false));
      this.#turn = isTurnOver() ? nextTurn() : null;
    }
    return this.#turn;
  }

  #asHost<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const ended = ofHost(this.#now, call).finally(() => this.#ofHost.delete(ended));
    this.#ofHost.add(ended);
    return ended;
  }
}

async function ofHost<Answer>(now: UnderWay, call: () => Promise<Answer>): Promise<Answer> {
  now.host += 1;
  try {
    return await call();
  } finally {
    left(now, "host");
  }
}

function left(now: UnderWay, count: "host" | "asked"): void {
  now[count] -= 1;
  if (now[count] === 0) for (const wake of now.waiting.splice(0)) wake();
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
