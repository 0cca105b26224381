/**
 * Plays one pattern: `npx tsx examples/patterns/main.ts saga [patterns.db]`. Kill it in the middle, and start it again on
 * the same file: it goes on.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "paystate/engine";
import { sqliteStorage } from "paystate/storage/sqlite";
import { patterns } from "./patterns.ts";

const [name = "", path = join(mkdtempSync(join(tmpdir(), "patterns-")), "patterns.db")] =
  process.argv.slice(2);
const pattern = Object.entries(patterns).find(([known]) => known === name)?.[1];
if (pattern === undefined) throw new Error(`name a pattern: ${Object.keys(patterns).join(", ")}`);

const storage = await sqliteStorage(path);
const engine = createEngine({ storage, workflows: [pattern.flow], leaseMs: 1_000 });
engine.run();
await pattern.play(engine);
await engine.stop();
await storage.close();
