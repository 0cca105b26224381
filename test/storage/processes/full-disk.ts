/**
 * A process whose files may not grow beyond a limit: it commits groups of facts until one of them is not made, and prints the
 * ids of each group with what each was answered, and which of them are there afterwards. Then it hangs.
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
  const answers = (await storage.commit(items)).map((answer) => (answer.ok ? "ok" : answer.conflict));
  isFull = answers.some((answer) => answer !== "ok");
  const there = await Promise.all(ids.map(async (id) => (await storage.fact(id)) !== null));
  process.stdout.write(`${JSON.stringify({ ids, answers, there })}\n`);
}
setInterval(() => undefined, 1_000);
