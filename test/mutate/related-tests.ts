/**
 * Finds the test files that could notice a change of a source: those that speak most of what it speaks of. Who imports it
 * would say less, since most tests begin a whole service, which imports everything.
 */
import { dirname } from "node:path";
import type { Place } from "./places.ts";

type Weights = ReadonlyMap<string, number>;

/** Of the tests in the folder that stands for the source's, in place of 1. */
const WEIGHT_OF_ROOM = 1.3;
/** Lines before and behind a place that tell what it is about, beside all of its file. */
const LINES_AROUND = 15;

/** The words of all test files, weighed: one that few of them use tells more. */
export class RelatedTests {
  readonly #usedBy = new Map<string, number>();
  readonly #tests: ReadonlyMap<string, Weights>;

  /** `tests` are their texts by their paths from the project's root. */
  constructor(tests: ReadonlyMap<string, string>) {
    const counted = [...tests].map(([path, text]) => [path, countsIn(text)] as const);
    for (const word of counted.flatMap(([, counts]) => [...counts.keys()])) {
      this.#usedBy.set(word, (this.#usedBy.get(word) ?? 0) + 1);
    }
    this.#tests = new Map(counted.map(([path, counts]) => [path, this.#weigh(counts, counted.length)]));
  }

  /** All test files, the nearest to this place of this source first. */
  of({ file, line }: Pick<Place, "file" | "line">, source: string): readonly string[] {
    const around = source.split("\n").slice(Math.max(0, line - LINES_AROUND), line + LINES_AROUND);
    const parts = [`${file} ${source}`, around.join("\n")].map((text) =>
      this.#weigh(countsIn(text), this.#tests.size),
    );
    const room = roomOfTests(file, new Set([...this.#tests.keys()].map(dirname)));
    const likeness = new Map<string, number>();
    for (const [test, weights] of this.#tests) {
      const alike = parts.reduce((sum, part) => sum + product(part, weights), 0);
      likeness.set(test, alike * (dirname(test) === room ? WEIGHT_OF_ROOM : 1));
    }
    return [...likeness].toSorted(([, a], [, b]) => b - a).map(([test]) => test);
  }

  /** Weights whose squares are one together, so that a long text counts no more than a short one. */
  #weigh(counts: ReadonlyMap<string, number>, tests: number): Weights {
    const weights = [...counts].map(([word, count]) => {
      return [word, (1 + Math.log(count)) * Math.log(tests / (this.#usedBy.get(word) ?? tests))] as const;
    });
    const length = Math.hypot(...weights.map(([, weight]) => weight));
    return new Map(weights.map(([word, weight]) => [word, length === 0 ? 0 : weight / length]));
  }
}

/** How often each word occurs, those within names such as `lastValidHeight` included; without its ending. */
function countsIn(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const spaced = text.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  for (const [word] of spaced.matchAll(/[a-z]{3,}/g)) {
    const stem = word.replace(/(ing|ed|es|s|e)$/, "");
    counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  return counts;
}

const product = (one: Weights, other: Weights): number =>
  [...one].reduce((sum, [word, weight]) => sum + weight * (other.get(word) ?? 0), 0);

/** The folder that stands for a source's in `test`, or for the nearest one above it. */
function roomOfTests(source: string, folders: ReadonlySet<string>): string {
  let folder = `test/${dirname(source).replace(/^src\/?/, "")}`;
  while (folder !== "." && !folders.has(folder)) folder = dirname(folder);
  return folder;
}
