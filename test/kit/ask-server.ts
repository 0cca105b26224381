/** Questions to a PostgreSQL server by a connection of their own, beside those of the program. */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const LOOK_MS = 20;

/** The rows of one statement. */
export async function ask(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Resolves when the answer's first field is true. */
export async function untilTrue(url: string, question: string): Promise<void> {
  for (;;) {
    const [row = {}] = await ask(url, question);
    if (Object.values(row)[0] === true) return;
    await sleep(LOOK_MS);
  }
}
