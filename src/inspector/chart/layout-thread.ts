/** ELK in a thread of its own: a large chart keeps it busy for seconds, in which this process has other things to do. */
import { Worker } from "node:worker_threads";
import type { ElkNode } from "elkjs/lib/elk.bundled.js";
import { requireBeside } from "../../require-beside.ts";

/** ELK is not installed beside us. */
export class NoLayout extends Error {
  override readonly name = "NoLayout";

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

/**
 * Hands `act` a function that computes the places of one graph, null where ELK cannot; the thread ends with `act`.
 * @throws NoLayout when elkjs is not installed.
 */
export async function withLayout<A>(
  act: (layOut: (graph: ElkNode) => Promise<ElkNode | null>) => Promise<A>,
): Promise<A> {
  const worker = new Worker(PROGRAM, { eval: true, workerData: pathOfElk() });
  try {
    return await act(
      (graph) =>
        new Promise((resolve, reject) => {
          worker.once("message", resolve);
          worker.once("error", reject);
          // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
          worker.postMessage(graph);
        }),
    );
  } finally {
    await worker.terminate();
  }
}

function pathOfElk(): string {
  try {
    return requireBeside().resolve("elkjs/lib/elk.bundled.js");
  } catch (cause) {
    throw new NoLayout(cause);
  }
}
