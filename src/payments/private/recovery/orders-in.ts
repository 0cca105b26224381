/** The orders of a recovery journal, as a command reads them from a file. */
import { access } from "node:fs/promises";
import type { OrderLine } from "./journal.ts";
import { recoveryFile } from "./journal-file.ts";

/** Throws a sentence that names the file, where it cannot be read. */
export async function ordersIn(file: string): Promise<readonly OrderLine[]> {
  try {
    await access(file);
    const orders: OrderLine[] = [];
    for await (const line of recoveryFile(file).read()) if ("layout" in line) orders.push(line);
    return orders;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Error(`${file} cannot be read (${code}): name the file of a recovery journal`, { cause });
  }
}
