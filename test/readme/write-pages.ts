/** `npm run pages`: writes what pages show of the code, and names the files that it has changed. */
import { writeFileSync } from "node:fs";
import { GENERATED, madeAnew } from "./generated.ts";
import { ROOT, textOf } from "./page.ts";

for (const file of GENERATED) {
  const present = textOf(file);
  const made = await madeAnew(file, present);
  if (made === present) continue;
  writeFileSync(`${ROOT}${file}`, made);
  process.stdout.write(`${file}\n`);
}
