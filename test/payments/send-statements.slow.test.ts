/** What a send costs its database. */
// modules: webhooks
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { countedSqlite } from "../kit/counted-sqlite.ts";
import { ALL_EVENTS, webhookWorld } from "./webhooks/webhook-world.ts";

/** Looks for due tasks and for watches: they come with time, and with waiting until all is quiet. */
const IS_LOOK = /^select (?:t\.\*|\*|workflow) from (?:json_each|"paystate(?:Tasks|Watches)")/;

test.each([
  ["nothing", [], 0, 55, 5],
  ["its end", ["transaction.completed"], 1, 70, 6],
  ["all that happens", ALL_EVENTS, 3, 99, 8],
] as const)(
  "L10: a send with a webhook that hears of %s takes few statements and commits",
  async (_, events, deliveries, mostStatements, mostCommits) => {
    const folder = await mkdtemp(join(tmpdir(), "paystate-send-"));
    const counted = await countedSqlite(join(folder, "send.db"));
    const world = await webhookWorld({ storage: counted.storage });
    const { service, chain } = world.fixture;
    const send = async (): Promise<void> => {
      await world.sendOne();
      await service.settled();
      for (const slots of [2, 40]) {
        chain.advance(slots);
        await service.settled();
      }
    };
    try {
      if (events.length > 0) await world.register({ events });
      await send();
      counted.statements.splice(0);
      const [commits, posts] = [counted.commits(), world.posts().length];
      await send();
      expect(world.posts().length - posts).toBe(deliveries);
      const own = counted.statements.filter((statement) => !IS_LOOK.test(statement));
      expect(own.length).toBeLessThanOrEqual(mostStatements);
      expect(counted.commits() - commits).toBeLessThanOrEqual(mostCommits);
    } finally {
      await world.close();
      counted.close();
      await rm(folder, { recursive: true });
    }
  },
);
