/**
 * SQL of a host: commits within a transaction of the host, compiled queries in commits of the engine (src/workflow/host-sql.ts),
 * effects that work in a transaction. How an adapter does each is a rule of storage and stays without it: `queries`, `within`
 * and `transact` are members of the port, to which the contract of storages holds it.
 */
import type { EngineModule } from "../../engine-module.ts";
import { inTransaction } from "./transactions.ts";
import { orWithin } from "./within.ts";

export const hostSql: EngineModule = {
  name: "host-sql",
  begin: (engine) => ({
    calls: orWithin(engine),
    ends: (effect) => inTransaction(engine, effect),
  }),
};
