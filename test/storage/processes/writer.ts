/** A process that commits facts `<prefix>0`, `<prefix>1`, … and prints each id once its commit has resolved. */
import { sqliteStorage } from "../../kit/storages.ts";

const [path = "", prefix = "", count = "0"] = process.argv.slice(2);
const storage = await sqliteStorage(path);
for (let index = 0; index < Number(count); index += 1) {
  const id = `${prefix}${index}`;
  const [result] = await storage.commit([{ writes: [{ table: "facts", insert: { id, value: prefix } }] }]);
  if (result?.ok !== true) throw new Error(`${id} was refused`);
  process.stdout.write(`${id}\n`);
}
await storage.close();
