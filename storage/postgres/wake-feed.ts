/** Hints that a task became due, by LISTEN and NOTIFY. A lost one only delays work until the next poll. */
import pRetry from "p-retry";
import type { Database } from "./database.ts";
import type { ListeningClient } from "./driver.ts";
import { type Connections, pause } from "./open.ts";
import { literal } from "./text.ts";

/** Hints within this time are sent as one. */
const SPACING_MS = 20;

/** How long the self-test waits for a connection and its own hint, in milliseconds. */
const PATIENCE_MS = 2_000;

const RECONNECT = { retries: Infinity, factor: 2, minTimeout: 250, maxTimeout: 30_000, randomize: true };

export class WakeFeed {
  readonly #database: Database;
  readonly #listener: Connections["listener"];
  /** Marks the hints of this process. */
  readonly #self: string;
  /** The channel of NOTIFY, to which all processes of one schema listen. */
  readonly channel: string;
  readonly #listeners = new Set<() => void>();
  readonly #awaited = new Map<string, () => void>();
  readonly #stopped = new AbortController();
  #client: ListeningClient | null = null;
  #connecting: Promise<void> | null = null;
  #sending: Promise<void> | null = null;
  #isWanted = false;
  #tests = 0;

  constructor(database: Database, listener: Connections["listener"], self: string) {
    this.#database = database;
    this.#listener = listener;
    this.#self = self;
    this.channel = `paystate_${database.schema}`;
  }

  /** Calls back for every hint of another process. */
  listen(listener: () => void): () => void {
    // The same function may be given twice.
    const each = (): void => listener();
    this.#listeners.add(each);
    void this.#connect().catch(() => {});
    return () => void this.#listeners.delete(each);
  }

  /** Sends a hint to other processes, soon but not too often. Never rejects. */
  tell(): void {
    this.#isWanted = true;
    this.#sending ??= this.#send().finally(() => (this.#sending = null));
  }

  async #send(): Promise<void> {
    while (this.#isWanted && !this.#stopped.signal.aborted) {
      this.#isWanted = false;
      await this.#notify(this.#self).catch(() => {});
      await pause(SPACING_MS);
    }
  }

  /** Sends a notification; its transaction waits for no disk. */
  async #notify(payload: string): Promise<void> {
    await this.#database.write(
      "set local synchronous_commit to off",
      `select pg_notify(${literal(this.channel)}, ${literal(payload)})`,
    );
  }

  async arrives(): Promise<boolean> {
    const patience = pause(PATIENCE_MS).then(() => false);
    const isListening = this.#connect().then(() => true);
    // Where nothing can listen, connecting is tried on and on.
    if (!(await Promise.race([isListening, patience]))) return false;
    this.#tests += 1;
    const payload = `${this.#self} ${this.#tests}`;
    const heard = new Promise<boolean>((resolve) => this.#awaited.set(payload, () => resolve(true)));
    try {
      await this.#notify(payload);
      return await Promise.race([heard, patience]);
    } finally {
      this.#awaited.delete(payload);
    }
  }

  #connect(): Promise<void> {
    this.#connecting ??= pRetry(() => this.#open(), { ...RECONNECT, signal: this.#stopped.signal });
    return this.#connecting;
  }

  async #open(): Promise<void> {
    const client = await this.#listener();
    const isOver = (): void => {
      if (this.#client !== client) return;
      this.#client = null;
      this.#connecting = null;
      if (!this.#stopped.signal.aborted) void this.#connect().catch(() => {});
    };
    client.on("error", isOver);
    client.on("end", isOver);
    client.on("notification", ({ payload = "" }) => {
      this.#awaited.get(payload)?.();
      if (!payload.startsWith(this.#self)) for (const listener of this.#listeners) listener();
    });
    try {
      await client.connect();
      await client.query(`listen "${this.channel}"`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    this.#client = client;
    if (this.#stopped.signal.aborted) await this.#hangUp();
    // A look asks for the news of the time without a listener.
    else for (const listener of this.#listeners) listener();
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#listeners.clear();
    await this.#sending;
    await this.#hangUp();
  }

  async #hangUp(): Promise<void> {
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => {});
  }
}
