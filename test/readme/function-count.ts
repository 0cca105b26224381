/** The named functions that run between two moments, as V8 counts them. To load a file runs none of them. */
import { Session } from "node:inspector/promises";
import { ROOT } from "./page.ts";

/** What V8 and esbuild add to the functions that a file is written with; those without a name are part of another. */
const NOT_NAMED = /^(<\w+>|__name|)$/;

/**
 * A count of V8. It is certain only of what is compiled while it counts: so `open` comes before the import of what is
 * counted.
 */
export class FunctionCount {
  readonly #session = new Session();

  /** Has V8 count from now on. */
  static async open(): Promise<FunctionCount> {
    const count = new FunctionCount();
    count.#session.connect();
    await count.#session.post("Profiler.enable");
    await count.#session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    // Where the machine is slow, turns of the event loop would be cut short, by a function that runs nowhere else.
    performance.now = () => 0;
    return count;
  }

  /** Begins at zero. */
  async begin(): Promise<void> {
    await this.#session.post("Profiler.takePreciseCoverage");
  }

  /** Ends the count: the functions that ran since `begin`, each once, as the path of their file from the repository's root. */
  async end(): Promise<readonly string[]> {
    const { result } = await this.#session.post("Profiler.takePreciseCoverage");
    this.#session.disconnect();
    const ran = new Map<string, string>();
    for (const { url, functions } of result) {
      if (!url.startsWith(`file://${ROOT}`)) continue;
      const file = url.slice(`file://${ROOT}`.length).replace(/\?.*$/, "");
      for (const { functionName, ranges } of functions) {
        const [whole] = ranges;
        // The function that begins at 0 is the file itself.
        if (whole === undefined || whole.count === 0 || whole.startOffset === 0) continue;
        if (!NOT_NAMED.test(functionName)) ran.set(`${file} ${whole.startOffset}-${whole.endOffset}`, file);
      }
    }
    return [...ran.values()];
  }
}
