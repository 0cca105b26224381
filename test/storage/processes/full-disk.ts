/**
 * A process whose files may not grow beyond a limit: it commits groups of facts until one is refused, and prints the ids of
 * each group with how it ended, and whether its first and its last fact are there afterwards. Then it hangs.
 */
import { sqliteStorage } from "../../kit/storages.ts";

const GROUP = 8;

const [path = ""] = process.argv.slice(2);
const storage = await sqliteStorage(path);
for (let group = 0, isFull = false; !isFull; group += 1) {
  const ids = Array.from({ length: GROUP }, (_, index) => `${group}-${index}`);
  const items = ids.map((id) => ({
    writes: [{ table: "facts" as const, insert: { id, value: "x".repeat(20_000) } }],
  }));
  const end = await storage.commit(items).then(
    (results) => (results.every(({ ok }) => ok) ? "ok" : "refused"),
    () => "failed",
  );
  isFull = end !== "ok";
  const there = await Promise.all(ids.map(async (id) => (await storage.fact(id)) !== null));
  process.stdout.write(`${JSON.stringify({ ids, end, there })}\n`);
}
setInterval(() => undefined, 1_000);
