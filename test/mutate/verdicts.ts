/** What became of each broken place, kept in a file: a call that was ended goes on, and a later one compares. */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { identityOf } from "./draw.ts";
import type { Place } from "./places.ts";

/** A line of the file. */
export interface Verdict extends Pick<Place, "file" | "line" | "text" | "occurrence" | "change"> {
  readonly verdict: "killed" | "survived";
  /** The test that noticed; null where none did. */
  readonly by: string | null;
  /** Which sources and tests it is true of. */
  readonly project: string;
}

/** A file of verdicts, one line of JSON each. */
export class VerdictLog {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The newest verdict of each place, by its identity. A line that was cut short by the end of a call is none. */
  newest(): ReadonlyMap<string, Verdict> {
    const lines = existsSync(this.path) ? readFileSync(this.path, "utf8").split("\n") : [];
    return new Map(lines.flatMap(verdictsOf).map((each) => [identityOf(each), each]));
  }

  append(verdict: Verdict): void {
    mkdirSync(dirname(this.path), { recursive: true });
    appendFileSync(this.path, `${JSON.stringify(verdict)}\n`);
  }
}

function verdictsOf(line: string): readonly Verdict[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as Verdict];
  } catch {
    return [];
  }
}
