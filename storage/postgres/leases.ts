/** Named leases in PostgreSQL. */
import type { StoredLease } from "../engine-tables.ts";
import { livingLeases, planLeases, withSetBack } from "../named-leases.ts";
import type { Lease, LeaseRequest } from "../storage.ts";
import type { Database } from "./database.ts";
import { CLOCK, type DatabaseClock } from "./database-clock.ts";
import { functionNames } from "./functions.ts";
import { again } from "./retries.ts";
import { literal } from "./text.ts";

/** Looks without a lock first: most of the time nothing is to be written. */
export async function leased(
  database: Database,
  clock: DatabaseClock,
  request: LeaseRequest,
): Promise<readonly Lease[]> {
  const { names, holder, leaseMs } = request;
  /** The caller's time, where that counts. */
  const given = (): number | null => clock.now(request.now());
  /** The rows of the names after the statements, and a time that was read behind them. */
  const asked = async (...statements: readonly string[]) => {
    const look = [`select * from "paystateLeases" where name = ${anyOf(names)}`, `select ${CLOCK} as now`];
    const answers = await again(() => database.decide(...statements, ...look));
    const [rows = [], times = []] = answers.slice(statements.length);
    const { now } = times[0] as { readonly now: number };
    return { rows: rows as readonly StoredLease[], now: given() ?? now };
  };
  const told = (leases: readonly Lease[]): readonly Lease[] =>
    leases.map((lease) => ({ ...lease, until: clock.told(lease.until) }));

  const seen = await asked();
  // By the database's clock only the times of the names tell.
  const byNames = given() === null && request.highest !== undefined ? { highest: 0 } : {};
  const judged = { ...request, ...byNames, now: () => seen.now };
  const { held, put, remove, setBackMs } = planLeases(judged, seen.rows);
  let page = setBackMs > 0 ? "" : null;
  while (page !== null) {
    const after = page;
    page = (await again(() => database.call(functionNames.move, { now: given(), after }))) as string | null;
  }
  if (put.length === 0 && remove.length === 0) return told(held);
  const time = given();
  const at = time === null ? CLOCK : `${literal(time)}::bigint`;
  const isAsSeen = seen.rows.map(
    ({ name, holder: by, until }) =>
      `(l.name, l.holder, l.until) = (${literal(name)}, ${literal(by)}, ${literal(until)})`,
  );
  const { rows, now } = await asked(
    `delete from "paystateLeases" where name = ${anyOf(remove)} and holder = ${literal(holder)}`,
    // Sorted, so that two concurrent requests do not deadlock.
    `insert into "paystateLeases" as l (name, holder, until, ms)
      select name, ${literal(holder)}, ${at} + ${leaseMs}, ${leaseMs}
        from unnest(${arrayOf(put.map(({ name }) => name).toSorted())}) as name
      on conflict (name) do update set holder = excluded.holder, until = excluded.until, ms = excluded.ms
        where ${[`l.holder = excluded.holder`, ...isAsSeen].join(" or ")}`,
  );
  return told(withSetBack(livingLeases([...new Set(names)], rows, now), setBackMs));
}

const arrayOf = (texts: readonly string[]): string => `array[${texts.map(literal).join(", ")}]::text[]`;
const anyOf = (texts: readonly string[]): string => `any(${arrayOf(texts)})`;
