/** Counts what a node is asked. */
// modules: private

const METHOD = /"method":"(\w+)"/g;

/** How often each method of a node was called since it was read last. */
export class NodeCalls {
  #counts = new Map<string, number>();
  #total = 0;

  /** How many there were, ever. */
  get total(): number {
    return this.#total;
  }

  counting(node: typeof fetch): typeof fetch {
    return async (input, init) => {
      const body = typeof init?.body === "string" ? init.body : "";
      for (const [, method = ""] of body.matchAll(METHOD)) {
        this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1);
        this.#total += 1;
      }
      return node(input, init);
    };
  }

  /** How many there were, and of which methods, most first. */
  take(): { readonly calls: number; readonly methods: Readonly<Record<string, number>> } {
    const sorted = [...this.#counts].toSorted(([, one], [, other]) => other - one);
    this.#counts = new Map();
    return {
      calls: sorted.reduce((sum, [, count]) => sum + count, 0),
      methods: Object.fromEntries(sorted),
    };
  }
}
