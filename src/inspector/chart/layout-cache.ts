/** The layouts of charts, made one after the other in a thread beside: no page waits for one. */
import { layOutIn, type ChartLayout } from "./lay-out-chart.ts";
import { LayoutWorker, LayoutMissingError } from "./layout-worker.ts";
import type { ReadChart } from "./read-chart.ts";

/** The drawing of a chart: its layout, or a sentence that says why no layout exists. */
export type LayoutResult = ChartLayout | string;

/** A chart with its machine: charts of the same machine share a layout. */
export interface DrawnChart {
  readonly source: object;
  readonly chart: ReadChart;
}

/** A chart whose layout is being made, or is finished. */
class Laid {
  readonly chart: ReadChart;
  readonly made: Promise<LayoutResult>;
  settle: (drawing: LayoutResult) => void = () => {};
  /** Null while it is being made. */
  drawing: LayoutResult | null = null;

  constructor(chart: ReadChart) {
    this.chart = chart;
    this.made = new Promise((resolve) => {
      this.settle = (drawing) => resolve((this.drawing = drawing));
    });
  }
}

const BEING_MADE =
  "The drawing is being made. It appears here in a moment, or when the page is loaded again.";
const BEYOND = "This chart is too complicated to be drawn.";

export class LayoutCache {
  readonly #known = new WeakMap<object, Laid>();
  /** Charts to be laid out, next first. */
  #waiting: Laid[] = [];
  #isAtWork = false;

  /** Queues these charts for layout, in this order. */
  begin(charts: readonly DrawnChart[]): void {
    for (const each of charts) this.#laid(each);
  }

  /** The layout as far as it is made; moves a waiting chart to the front of the queue. */
  now(drawn: DrawnChart): LayoutResult {
    return this.#next(drawn).drawing ?? BEING_MADE;
  }

  /** Never rejects. */
  whole(drawn: DrawnChart): Promise<LayoutResult> {
    return this.#next(drawn).made;
  }

  #laid({ source, chart }: DrawnChart): Laid {
    const known = this.#known.get(source);
    if (known !== undefined) return known;
    const laid = new Laid(chart);
    this.#known.set(source, laid);
    this.#waiting.push(laid);
    if (!this.#isAtWork) void this.#work();
    return laid;
  }

  #next(drawn: DrawnChart): Laid {
    const laid = this.#laid(drawn);
    if (this.#waiting.includes(laid)) {
      this.#waiting = [laid, ...this.#waiting.filter((other) => other !== laid)];
    }
    return laid;
  }

  /** A thread that dies of one chart is followed by another thread for the rest. */
  async #work(): Promise<void> {
    this.#isAtWork = true;
    // The callers sort the waiting charts out in the same turn.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#inOneThread();
    this.#isAtWork = false;
  }

  async #inOneThread(): Promise<void> {
    let thread: LayoutWorker | null = null;
    try {
      thread = new LayoutWorker();
      thread.unref();
      for (let laid = this.#waiting.shift(); laid !== undefined; laid = this.#waiting.shift()) {
        const isAlive = await settled(laid, thread);
        if (!isAlive) return;
      }
    } catch (error) {
      const sentence = error instanceof LayoutMissingError ? error.message : BEYOND;
      for (const laid of this.#waiting.splice(0)) laid.settle(sentence);
    } finally {
      await thread?.end();
    }
  }
}

/** The layouts of this process. */
export const layouts = new LayoutCache();

/** Whether the thread can be used for more. */
async function settled(laid: Laid, thread: LayoutWorker): Promise<boolean> {
  try {
    laid.settle(await layOutIn(thread, laid.chart));
    return true;
  } catch {
    laid.settle(BEYOND);
    return false;
  }
}
