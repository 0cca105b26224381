/** Says of one place after the other whether a test notices that it is broken. */
import type { Place } from "./places.ts";
import type { Failure, ProjectCopy } from "./project-copy.ts";
import { RelatedTests } from "./related-tests.ts";

/** So many test files are run together, the nearest first, and so many at most: a break is to take a minute, not an hour. */
const TOGETHER = 4;
const MOST_TESTS = 12;
/** A break may make a test hang, which is noticed, too. */
const MAX_RUN_MS = 120_000;

/** Those tests that fail without any break say nothing, and are left out. */
export class Judge {
  readonly #copy: ProjectCopy;
  readonly #related: RelatedTests;
  readonly #until: number;
  /** By test file: whether it passes without any break. */
  readonly #sound = new Map<string, boolean>();

  /** `until` by `performance.now()`. */
  constructor(copy: ProjectCopy, until: number) {
    this.#copy = copy;
    this.#related = new RelatedTests(copy.tests());
    this.#until = until;
  }

  /** Test files that were met and do not pass without any break. */
  get leftOut(): readonly string[] {
    return [...this.#sound].filter(([, isSound]) => !isSound).map(([file]) => file);
  }

  /** The test that notices, null where none does, and undefined where the time was up. */
  async noticedBy(place: Place): Promise<string | null | undefined> {
    const source = this.#copy.read(place.file);
    const near = this.#related.of(place, source).slice(0, MOST_TESTS);
    for (let first = 0; first < near.length; first += TOGETHER) {
      const failure = await this.#soundFailure(near.slice(first, first + TOGETHER), place);
      if (this.#timeLeft() <= 0) return undefined;
      if (failure !== null) return failure.test;
    }
    return null;
  }

  /** Of the tests that pass without any break. */
  async #soundFailure(tests: readonly string[], place: Place): Promise<Failure | null> {
    const sound = tests.filter((file) => this.#sound.get(file) !== false);
    const [only, ...others] = sound;
    if (only === undefined || this.#timeLeft() <= 0) return null;
    const failure = await this.#broken(sound, place);
    if (failure === null) return null;
    // Which of them did not end is told by each alone.
    if (failure.file === null && others.length > 0) {
      return (await this.#soundFailure([only], place)) ?? this.#soundFailure(others, place);
    }
    if (await this.#isSound(failure.file ?? only)) return failure;
    return this.#soundFailure(sound, place);
  }

  async #broken(tests: readonly string[], { file, start, end, replacement }: Place): Promise<Failure | null> {
    const source = this.#copy.read(file);
    await this.#copy.write(file, source.slice(0, start) + replacement + source.slice(end));
    try {
      return await this.#run(tests);
    } finally {
      await this.#copy.write(file, source);
    }
  }

  async #isSound(file: string): Promise<boolean> {
    const isSound = this.#sound.get(file) ?? (await this.#run([file])) === null;
    // What was ended for want of time says nothing of the test.
    if (this.#timeLeft() > 0) this.#sound.set(file, isSound);
    return isSound;
  }

  #run(tests: readonly string[]): Promise<Failure | null> {
    return this.#copy.firstFailure(tests, Math.max(1, Math.min(MAX_RUN_MS, this.#timeLeft())));
  }

  #timeLeft(): number {
    return Math.ceil(this.#until - performance.now());
  }
}
