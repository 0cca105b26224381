/** Breaks places of recently changed files that the seed draws, and prints which no test noticed. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseSeed, repeatWith } from "../kit/seed.ts";
import { ALL_BREAKS } from "./breaks.ts";
import { placesIn, type Place } from "./places.ts";
import type { ProjectCopy } from "./project-copy.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COMMITS = 60;
/** A room has up to eighty files of tests. The nearest are run first, and so many at most. */
const NEAREST = 3;
const MOST_TESTS = 10;

/** How many places are broken, how long that may take, and which words the names of their files hold. */
export interface Draw {
  readonly count: number;
  readonly seconds: number;
  readonly words: readonly string[];
}

/** Breaks up to so many places, one after the other, and reports. What is not judged in time is not counted. */
export async function breakGenerated(copy: ProjectCopy, { count, seconds, words }: Draw): Promise<void> {
  const until = performance.now() + seconds * 1_000;
  const seed = chooseSeed();
  const files = recentFiles().filter((file) => words.every((word) => file.includes(word)));
  const drawn = drawnBy(seed, files.flatMap(placesOf)).slice(0, count);
  const survivors: Place[] = [];
  let judged = 0;
  for (const place of drawn) {
    const isNoticed = await judge(copy, place, until);
    if (isNoticed === null) break;
    judged += 1;
    if (isNoticed) continue;
    survivors.push(place);
    process.stdout.write(`${place.file}:${place.line}: no test notices where ${place.change}\n`);
  }
  process.stdout.write(
    `${judged} generated breaks, ${survivors.length} unnoticed by the tests nearest to them: ${repeatWith(seed)}\n`,
  );
}

/** Null where the time was up. */
async function judge(copy: ProjectCopy, place: Place, until: number): Promise<boolean | null> {
  const { file, start, end, replacement } = place;
  const near = testsNear(file);
  const source = await copy.read(file);
  await copy.write(file, source.slice(0, start) + replacement + source.slice(end));
  try {
    for (const tests of [near.slice(0, NEAREST), near.slice(NEAREST)]) {
      const timeoutMs = Math.ceil(until - performance.now());
      if (timeoutMs <= 0) return null;
      const failure =
        tests.length === 0 ? null : await copy.firstFailure(tests, { project: "rest", timeoutMs });
      if (failure !== null) return performance.now() >= until ? null : true;
    }
    return false;
  } finally {
    await copy.write(file, source);
  }
}

/** Sources that the newest commits have changed, and that have tests. */
function recentFiles(): readonly string[] {
  const args = [
    "log",
    "--name-only",
    "--format=",
    `--max-count=${COMMITS}`,
    "--",
    "src",
    "storage",
    "machines",
  ];
  const changed = execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).split("\n");
  return [...new Set(changed)].filter(
    (file) => file.endsWith(".ts") && existsSync(join(ROOT, file)) && testsNear(file).length > 0,
  );
}

const placesOf = (file: string): readonly Place[] => placesIn(file, readFileSync(join(ROOT, file), "utf8"));

function drawnBy(seed: number, places: readonly Place[]): readonly Place[] {
  const lots = new Map(places.map((place) => [place, lotOf(`${seed} ${JSON.stringify(place)}`)]));
  return places.toSorted((a, b) => (lots.get(a) ?? 0) - (lots.get(b) ?? 0));
}

const lotOf = (text: string): number => createHash("sha256").update(text).digest().readUIntBE(0, 6);

/** Those that are listed for a break of the file, then those of its room that name it, then others of its room. */
function testsNear(file: string): readonly string[] {
  const listed = ALL_BREAKS.filter((each) => each.file === file).flatMap(({ tests }) => tests);
  const words = basename(file, ".ts").split("-");
  const nearnessOf = (test: string): number => {
    const isNamed = readFileSync(join(ROOT, "test", test), "utf8").includes(`/${basename(file)}"`);
    const shared = words.filter((word) => basename(test).includes(word)).length;
    return (isNamed ? words.length : 0) + shared;
  };
  const room = roomOf(file.replace(/^src\//, ""))
    .map((test) => [test, nearnessOf(test)] as const)
    .toSorted(([, a], [, b]) => b - a)
    .map(([test]) => test);
  return [...new Set([...listed, ...room])].slice(0, MOST_TESTS);
}

/** The test files of the folder that stands for this one in `test`, or for the nearest above it. */
function roomOf(path: string): readonly string[] {
  for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
    const at = join(ROOT, "test", folder);
    const tests = existsSync(at) ? readdirSync(at).filter((name) => name.endsWith(".test.ts")) : [];
    if (tests.length > 0) return tests.map((name) => join(folder, name));
  }
  return [];
}
