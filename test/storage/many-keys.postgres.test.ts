/** A commit with more keys than the server has room for locks. */
import { expect, test } from "vitest";
import { postgresDatabase } from "../kit/postgres-database.ts";
import { HAS_POSTGRES } from "../programs/ask-postgres.ts";
import { limitedTo, range, WORKFLOW } from "../contracts/storage/samples.ts";

const MANY = 60_000;

test.runIf(HAS_POSTGRES)(
  "one commit arms messages to sixty thousand instances, beside commits to some of them",
  async () => {
    const database = await postgresDatabase();
    // On a busy machine the commit takes over 30 s.
    const storage = await database.open({ statementTimeoutMs: 100_000 });
    const message = (id: string, to: number) =>
      limitedTo(id, `message to i${to}`, 1, { kind: "message", instance: `i${to}` });
    const many = { arms: range(MANY).map((index) => ({ task: message(`m${index}`, index) })) };
    const few = range(20).map((index) => ({ arms: [{ task: message(`n${index}`, index * 7) }] }));
    const answers = await Promise.all([storage.commit([many]), ...few.map((item) => storage.commit([item]))]);
    expect(answers.flat().every(({ ok }) => ok)).toBe(true);
    const claimed = await storage.claim({
      holder: "h",
      now: 10,
      leaseMs: 1_000,
      workflows: [WORKFLOW],
      steps: 1_000,
      free: 0,
      limited: 0,
      maxCrashes: 5,
    });
    // Of each instance one message is in hand: a second one waits.
    expect(new Set(claimed.map(({ instance }) => instance)).size).toBe(claimed.length);
    expect(claimed.length).toBe(1_000);
    await storage.close();
    await database.destroy();
  },
);
