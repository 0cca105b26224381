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
  /** The hash of the sources and tests that it is true of. */
  readonly project: string;
}

export function verdictOf(
  { file, line, text, occurrence, change }: Place,
  { by, project }: Pick<Verdict, "by" | "project">,
): Verdict {
  return { verdict: by === null ? "survived" : "killed", file, line, text, occurrence, change, by, project };
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
    return new Map(lines.flatMap(verdictsIn).map((each) => [identityOf(each), each]));
  }

  /** The verdict on a place of this very project. */
  known(place: Place, project: string): Verdict | undefined {
    const verdict = this.newest().get(identityOf(place));
    return verdict?.project === project ? verdict : undefined;
  }

  append(verdict: Verdict): void {
    mkdirSync(dirname(this.path), { recursive: true });
    // On a line of its own, whatever was cut short before it.
    appendFileSync(this.path, `\n${JSON.stringify(verdict)}`);
  }
}

/** The places whose newest verdict, on whatever project, was this one. */
export function withVerdict(
  places: readonly Place[],
  log: VerdictLog,
  verdict: Verdict["verdict"],
): readonly Place[] {
  const newest = log.newest();
  return places.filter((place) => newest.get(identityOf(place))?.verdict === verdict);
}

function verdictsIn(line: string): readonly Verdict[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as Verdict];
  } catch {
    return [];
  }
}
