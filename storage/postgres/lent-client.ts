/** The connection of a transaction as its handler gets it: until the handler has settled, and without the transaction's ends. */
import { bare } from "../compiled-queries.ts";
import type { PostgresClient } from "./driver.ts";

/** What begins or ends a transaction; ROLLBACK TO a savepoint does neither. */
const ENDING =
  /^(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:(?:work|transaction)\s+)?to\b))\b/i;

/** A client of pg takes its query in several ways, and so does what is lent. */
type Query = (...given: readonly unknown[]) => unknown;
type Told = (error: unknown, ...results: readonly unknown[]) => void;

export class LentClient {
  readonly client: PostgresClient;
  readonly #lent: PostgresClient;
  #isSettled = false;
  /** Queries without an answer. */
  #under = 0;
  #isStray = false;
  #hasFailed = false;

  constructor(client: PostgresClient) {
    this.#lent = client;
    const own: Readonly<Record<PropertyKey, unknown>> = {
      query: (...given: readonly unknown[]) => this.#query(given),
      // A library that thinks of a pool's connection gives it back after each query.
      release: () => {},
      end: async () => {},
    };
    this.client = new Proxy(client, {
      get(target, key) {
        if (Object.hasOwn(own, key)) return own[key];
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" && key !== "constructor" ? (value.bind(target) as unknown) : value;
      },
    });
  }

  /** Whether a query had no answer when the handler settled, or came later: the connection is for nobody else. */
  get isStray(): boolean {
    return this.#isStray;
  }

  /** Whether the error is one of the handler: it says nothing of the connection. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  async to<A>(act: (client: PostgresClient) => Promise<A>): Promise<A> {
    try {
      return await act(this.client);
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#isSettled = true;
      this.#isStray = this.#under > 0;
    }
  }

  #query(given: readonly unknown[]): unknown {
    const [first] = given;
    const told = given.findIndex((each) => typeof each === "function");
    const refusal = this.#refusalOf(first);
    if (refusal !== null) {
      if (told === -1) return Promise.reject(refusal);
      setImmediate(() => (given[told] as Told)(refusal));
      return undefined;
    }
    this.#under += 1;
    const answered = (): void => void (this.#under -= 1);
    const query = this.#lent.query.bind(this.#lent) as unknown as Query;
    if (told !== -1) {
      const tell = given[told] as Told;
      return query(
        ...given.with(told, (...answer: Parameters<Told>) => {
          answered();
          tell(...answer);
        }),
      );
    }
    const result = query(...given);
    // A cursor or a stream is no promise, and counts as one without an answer.
    if (result instanceof Promise) result.then(answered, answered);
    return result;
  }

  #refusalOf(query: unknown): TypeError | null {
    if (this.#isSettled) {
      this.#isStray = true;
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
