/** ELK in a thread of its own: a large chart takes seconds, in which this process has other things to do. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ElkNode } from "elkjs/lib/elk.bundled.js";
import { requireBeside } from "../../core/require-beside.ts";

/** ELK is not installed beside us. */
export class LayoutMissingError extends Error {
  override readonly name = "LayoutMissingError";

  constructor(cause: unknown) {
    super('charts are drawn by the package "elkjs": install it beside paystate (npm install elkjs)', {
      cause,
    });
  }
}

// Answers the places, or null where this graph is beyond ELK.
const PROGRAM = `
const { parentPort, workerData } = require("node:worker_threads");
const Elk = require(workerData);
const elk = new (Elk.default ?? Elk)();
parentPort.on("message", (graph) => {
  elk.layout(graph).then((page) => parentPort.postMessage(page), () => parentPort.postMessage(null));
});
`;

/** A worker thread that lays out graphs one by one. */
export class LayoutWorker {
  readonly #worker: Worker;

  /** @throws LayoutMissingError when elkjs is not installed. */
  constructor() {
    this.#worker = new Worker(PROGRAM, { eval: true, workerData: pathOfElk() });
  }

  /** Null when ELK cannot lay out the graph. Rejects when the thread has died; the object is useless afterwards. */
  async layOut(graph: ElkNode): Promise<ElkNode | null> {
    const isAnswered = new AbortController();
    const { signal } = isAnswered;
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      this.#worker.postMessage(graph);
      const died = once(this.#worker, "exit", { signal }).then(() => {
        throw new Error("the thread of the layout has ended");
      });
      const [page] = (await Promise.race([once(this.#worker, "message", { signal }), died])) as [
        ElkNode | null,
      ];
      return page;
    } finally {
      isAnswered.abort();
    }
  }

  /** Lets the process end while this thread is at work. */
  unref(): void {
    this.#worker.unref();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

function pathOfElk(): string {
  try {
    return requireBeside().resolve("elkjs/lib/elk.bundled.js");
  } catch (cause) {
    throw new LayoutMissingError(cause);
  }
}
