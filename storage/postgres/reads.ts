/** Reads: those that name their rows share one message with others of their turn, and every other read has one alone. */
import { isAnswered } from "./explain.ts";
import { again } from "./retries.ts";

type Rows = readonly object[];

/** Asks in one transaction, and answers the rows of each statement. */
type ReadCall = (texts: readonly string[]) => Promise<readonly Rows[]>;

interface NamedRead {
  readonly text: string;
  /** Equal for reads that were asked for without awaiting. */
  readonly section: number;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: unknown) => void;
}

const TOGETHER = 64;

export class Reads {
  readonly #ask: ReadCall;
  #named: NamedRead[] = [];
  #section = 0;
  #hasSection = false;
  /** How many more reads may go alone now, and what waits for that. */
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @param mostAlone The most connections with a read that goes alone: the others are left to all else. */
  constructor(ask: ReadCall, mostAlone: number) {
    this.#ask = ask;
    this.#free = mostAlone;
  }

  /** Rows that the statement names. Such reads see one state where they were asked for without awaiting, and none of them fails. */
  named(text: string): Promise<Rows> {
    if (!this.#hasSection) {
      this.#hasSection = true;
      this.#section += 1;
      queueMicrotask(() => (this.#hasSection = false));
    }
    return new Promise((resolve, reject) => {
      if (this.#named.length === 0) setImmediate(() => this.#flush());
      this.#named.push({ text, section: this.#section, resolve, reject });
    });
  }

  /** Any number of rows, within the time of one statement. */
  async alone(text: string): Promise<Rows> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      const [rows = []] = await again(() => this.#ask([text]));
      return rows;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #flush(): void {
    const reads = this.#named;
    this.#named = [];
    for (let first = 0; first < reads.length; first += TOGETHER) {
      void this.#together(reads.slice(first, first + TOGETHER));
    }
  }

  /** If the server refuses one, the reads of each section are asked again, and then each alone. */
  async #together(reads: readonly NamedRead[]): Promise<void> {
    try {
      const rows = await again(() => this.#ask(reads.map(({ text }) => text)));
      for (const [index, { resolve }] of reads.entries()) resolve(rows[index] ?? []);
    } catch (error) {
      const parts = apart(reads);
      if (parts.length > 1 && isAnswered(error)) await Promise.all(parts.map((part) => this.#together(part)));
      else for (const { reject } of reads) reject(error);
    }
  }
}

/** Splits reads by section, and reads of one section into single reads. */
function apart(reads: readonly NamedRead[]): readonly (readonly NamedRead[])[] {
  const sections = new Map<number, NamedRead[]>();
  for (const read of reads) {
    const section = sections.get(read.section);
    if (section === undefined) sections.set(read.section, [read]);
    else section.push(read);
  }
  return sections.size > 1 ? [...sections.values()] : reads.map((read) => [read]);
}
