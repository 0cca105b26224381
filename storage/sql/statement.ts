/**
 * Statements compiled once and run many times: Kysely compiles the query with placeholders for values, and each run puts
 * its values into their places by name. Compiling for every row would cost two thirds of the throughput.
 */
import type { Compilable } from "kysely";

/** What a driver is given: SQL, and which named value goes to which parameter. */
export interface Statement<Values, Row> {
  readonly sql: string;
  readonly parameters: readonly (keyof Values & string)[];
  /** Never there; keeps the type of the rows. */
  readonly row?: Row;
}

class Placeholder {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A query that is compiled when it is first needed: a start would otherwise wait for all that it never runs. */
class LateStatement<Values, Row> implements Statement<Values, Row> {
  readonly #build: () => Compilable<Row>;
  #compiled: Pick<Statement<Values, Row>, "sql" | "parameters"> | null = null;

  constructor(build: () => Compilable<Row>) {
    this.#build = build;
  }

  get sql(): string {
    return this.#compile().sql;
  }

  get parameters(): Statement<Values, Row>["parameters"] {
    return this.#compile().parameters;
  }

  #compile(): Pick<Statement<Values, Row>, "sql" | "parameters"> {
    if (this.#compiled !== null) return this.#compiled;
    const { sql, parameters } = this.#build().compile();
    const names = parameters.map((parameter) => nameOf(parameter, sql) as keyof Values & string);
    return (this.#compiled = { sql, parameters: names });
  }
}

/** A query over values that are given later: `statement<{ id: string }>()(({ id }) => db…where("id", "=", id))`. */
export function statement<Values extends object>() {
  const values = new Proxy({} as Values, { get: (_, name) => new Placeholder(String(name)) });
  return <Row>(build: (given: Values) => Compilable<Row>): Statement<Values, Row> =>
    new LateStatement(() => build(values));
}

/** All of these values at once, for an insert. */
export function pick<Values extends object>(given: Values, names: readonly string[]): Values {
  return Object.fromEntries(names.map((name) => [name, given[name as keyof Values]])) as Values;
}

function nameOf(parameter: unknown, sql: string): string {
  if (parameter instanceof Placeholder) return parameter.name;
  throw new TypeError(`a constant in a compiled statement must be a literal: ${sql}`);
}
