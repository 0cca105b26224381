/**
 * Makes the transfers that are waiting, and ends when none is left; or dies without a word after so many moments, of which
 * there is one before and one behind each message of a handler's transaction.
 */
// modules: host-sql
import pg from "pg";
import { createEngine } from "paystate/engine";
import { postgresStorage } from "../../../storage/postgres.ts";
import { movesIn, transfersThat } from "../transfers.ts";

const [url = "", schema = "", table = "", dieAfter = "0"] = process.argv.slice(2);
let left = Number(dieAfter);

function mayDie(): void {
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
}

const transactions = new WeakSet<object>();
const { prototype } = pg.Client as unknown as {
  readonly prototype: { query: (this: object, ...given: unknown[]) => Promise<unknown> };
};
const { query } = prototype;
prototype.query = async function killable(...given) {
  const [asked] = given as readonly (string | { readonly text?: string })[];
  const text = typeof asked === "string" ? asked : (asked?.text ?? "");
  if (text.includes("paystate.transact")) transactions.add(this);
  if (!transactions.has(this)) return query.apply(this, given);
  if (/commit$|rollback$/.test(text)) transactions.delete(this);
  mayDie();
  const answer = await query.apply(this, given);
  mayDie();
  return answer;
};

const storage = await postgresStorage(url, { schema });
const transfers = transfersThat({ transact: movesIn(table) });
// Short, so that what a killed process held is soon taken over; it is no fault of the task that its process dies.
const engine = createEngine({
  storage,
  workflows: [transfers],
  leaseMs: 1_000,
  pollMs: 100,
  maxCrashes: 1_000,
  slots: 4,
});
engine.run();
for (;;) {
  const { instances } = await engine.list(transfers, { status: "active", limit: 1 });
  const [next] = instances;
  if (next === undefined) break;
  await engine.waitFor(transfers, next.id, "final");
}
await engine.stop();
await storage.close();
