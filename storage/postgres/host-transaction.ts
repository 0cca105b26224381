/** Statements within a transaction of the host: through pg itself, or through what was built upon it. */
import { CompiledQuery } from "kysely";
import type { HostClient } from "../storage.ts";

type Rows = readonly Readonly<Record<string, string | null>>[];

/** Values stand in the text of the statement, so each library sends the same text. Rejects as the library does. */
export async function askHost(host: HostClient, text: string): Promise<Rows> {
  const answer = await asked(host, text);
  return Array.isArray(answer) ? (answer as Rows) : (answer as { readonly rows: Rows }).rows;
}

function asked(host: HostClient, text: string): Promise<unknown> {
  if (has(host, "query")) return host.query(text);
  if (has(host, "executeQuery")) return host.executeQuery(CompiledQuery.raw(text) as never);
  if (has(host, "$queryRawUnsafe")) return host.$queryRawUnsafe(text);
  if (has(host, "execute")) return host.execute(text);
  throw new TypeError("within: expected a client of pg, or what TypeORM, Kysely, Prisma or Drizzle hand out");
}

/** Some have an object of this name, which is no way to ask. */
const has = <Name extends string>(
  host: HostClient,
  name: Name,
): host is Extract<HostClient, Readonly<Record<Name, unknown>>> =>
  typeof (host as Readonly<Record<string, unknown>>)[name] === "function";
