/** The server of a run's database, and what becomes of it: it is killed and starts again, or its standby takes over. */
import { setTimeout as sleep } from "node:timers/promises";
import { ask, untilTrue } from "../kit/ask-server.ts";
import { postgresProxy } from "../kit/postgres-proxy.ts";
import { type PostgresServer, startPostgres, startStandby } from "../kit/postgres-server.ts";
import type { FailoverKind } from "./plan.ts";

/** The server as a run has it. */
export interface DatabaseServer {
  readonly url: string;
  /** Ends when it can be worked on again. */
  lose(): Promise<void>;
  stop(): Promise<void>;
}

/** What the standby of an asynchronous pair has not heard of when it is promoted. */
const LOST_MS = 1_500;
/** Longer than a commit waits for a server that takes no writes. */
const UNPROMOTED_MS = 12_000;

/** One that starts again with what it had. */
export async function lonelyServer(): Promise<DatabaseServer> {
  const server = await startPostgres();
  return {
    url: server.url,
    lose: () => startAgain(server),
    stop: () => server.stop(),
  };
}

async function startAgain(server: PostgresServer): Promise<void> {
  await server.kill();
  await server.restart();
}

/** A primary and its standby behind one address. The first loss is the primary's; then the one that was promoted is alone. */
export async function serverWithStandby(kind: FailoverKind): Promise<DatabaseServer> {
  const primary = await startPostgres();
  const standby = await startStandby(primary);
  const proxy = await postgresProxy(primary.url);
  if (kind !== "asynchronous") {
    await ask(primary.url, "alter system set synchronous_standby_names to '*'");
    await ask(primary.url, "select pg_reload_conf()");
    await untilTrue(primary.url, "select bool_or(sync_state = 'sync') from pg_stat_replication");
  }
  let isPromoted = false;

  const failOver = async (): Promise<void> => {
    if (kind === "asynchronous") {
      await ask(standby.url, "alter system set primary_conninfo to ''");
      await ask(standby.url, "select pg_reload_conf()");
      await untilTrue(primary.url, "select count(*) = 0 from pg_stat_replication");
      await sleep(LOST_MS);
    }
    if (kind === "vanished host") proxy.vanish(standby.url);
    await primary.kill();
    if (kind !== "vanished host") proxy.lead(standby.url);
    if (kind === "slow promotion") await sleep(UNPROMOTED_MS);
    await ask(standby.url, "select pg_promote(true, 60)");
    await untilTrue(standby.url, "select not pg_is_in_recovery()");
    isPromoted = true;
  };

  return {
    url: proxy.url,
    lose: () => (isPromoted ? startAgain(standby) : failOver()),
    async stop() {
      await proxy.stop();
      await standby.stop();
      await primary.stop();
    },
  };
}
