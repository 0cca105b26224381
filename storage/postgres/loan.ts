/** The connection of a transaction, lent to its handler: until the handler has settled, and without the transaction's ends. */
import { bare } from "../compiled-queries.ts";
import type { PostgresClient } from "./driver.ts";

/** Statements that begin or end a transaction; ROLLBACK TO a savepoint does neither. */
const ENDING =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

/** A client of pg takes its query in several ways, and so does what is lent. */
type Query = (...given: readonly unknown[]) => unknown;
type Told = (error: unknown, ...results: readonly unknown[]) => void;

export class Loan {
  /** Whether a query had no answer when the handler settled, or came later: the pool then closes the connection. */
  isStray = false;
  /** Whether the error is one of the handler: it says nothing of the connection. */
  hasFailed = false;
  #isSettled = false;
  /** Queries without an answer. */
  #under = 0;

  async of<A>(client: PostgresClient, act: (lent: PostgresClient) => Promise<A>): Promise<A> {
    try {
      return await act(this.#lent(client));
    } catch (error) {
      this.hasFailed = true;
      throw error;
    } finally {
      this.#isSettled = true;
      this.isStray = this.#under > 0;
    }
  }

  #lent(client: PostgresClient): PostgresClient {
    const query = client.query.bind(client) as unknown as Query;
    const own: Readonly<Record<PropertyKey, unknown>> = {
      query: (...given: readonly unknown[]) => this.#asked(query, given),
      // A library that thinks of a pool's connection gives it back after each query.
      release: () => {},
      end: async () => {},
    };
    return new Proxy(client, {
      get(target, key) {
        if (Object.hasOwn(own, key)) return own[key];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" && key !== "constructor" ? (value.bind(target) as unknown) : value;
      },
    });
  }

  #asked(query: Query, given: readonly unknown[]): unknown {
    const at = given.findIndex((each) => typeof each === "function");
    const tell = given[at] as Told | undefined;
    const refusal = this.#refusalOf(given[0]);
    if (refusal !== null) {
      if (tell === undefined) return Promise.reject(refusal);
      setImmediate(() => tell(refusal));
      return undefined;
    }
    this.#under += 1;
    const answered = (): void => void (this.#under -= 1);
    if (tell !== undefined) {
      const heard = (...answer: Parameters<Told>): void => {
        answered();
        tell(...answer);
      };
      return query(...given.with(at, heard));
    }
    const result = query(...given);
    // A cursor or a stream is no promise, and counts as one without an answer.
    if (result instanceof Promise) result.then(answered, answered);
    return result;
  }

  #refusalOf(query: unknown): TypeError | null {
    if (this.#isSettled) {
      this.isStray = true;
      return new TypeError("transact: its handler has settled, and this query came later: await each query");
    }
    const text = typeof query === "string" ? query : (query as { readonly text?: unknown } | null)?.text;
    const ending = typeof text === "string" ? ENDING.exec(bare(text)) : null;
    return ending === null ? null : refused(ending[0].toUpperCase());
  }
}

const refused = (ending: string): TypeError =>
  new TypeError(
    `transact: ${ending} is the engine's: leave BEGIN, COMMIT, ROLLBACK and the isolation to the engine, and throw to take back`,
  );
