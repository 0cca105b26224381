/** A page that is printed again whenever it has changed. */
import { systemClock } from "../../runtime.ts";
import type { Print } from "../print.ts";

const LOOK_EVERY_MS = 500;
/** Empties the screen of a terminal. */
const CLEAR = "\u001b[2J\u001b[3J\u001b[H";

/** Goes on until the process is ended. */
export async function watchPage(make: () => Promise<string>, print: Print): Promise<never> {
  let shown: string | null = null;
  for (;;) {
    const page = await make();
    if (page !== shown) print(process.stdout.isTTY ? `${CLEAR}${page}` : page);
    shown = page;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
