/**
 * `npm run mutate -- src/payments/private --draw 100`: breaks so many places of these sources as a seed draws them, one
 * after the other in a copy of the project, and prints which no test notices. README.md tells the options.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chooseSeed } from "../kit/seed.ts";
import { drawnBy, identityOf } from "./draw.ts";
import { Judge } from "./judge.ts";
import { placesIn, type Place } from "./places.ts";
import { ProjectCopy } from "./project-copy.ts";
import { VerdictLog, type Verdict } from "./verdicts.ts";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/paystate-mutate/", import.meta.url));

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    draw: { type: "string", default: "20" },
    seed: { type: "string" },
    seconds: { type: "string", default: "86400" },
    again: { type: "boolean", default: false },
    against: { type: "string" },
  },
});
const { against, again: isAgain } = values;
const until = performance.now() + Number(values.seconds) * 1_000;
// The tests have the same seed, so that the same samples judge before and after a change.
if (values.seed !== undefined) process.env["PAYSTATE_SEED"] = values.seed;
const seed = chooseSeed();

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** What is to be judged: of an earlier log what was killed, or the draw, or what of the draw has survived so far. */
function chosenOf(places: readonly Place[], log: VerdictLog): readonly Place[] {
  if (against !== undefined) return keptOf(places, new VerdictLog(against), "killed");
  const drawn = drawnBy(seed, places).slice(0, Number(values.draw));
  return isAgain ? keptOf(drawn, log, "survived") : drawn;
}

function keptOf(places: readonly Place[], log: VerdictLog, verdict: Verdict["verdict"]): readonly Place[] {
  const newest = log.newest();
  const kept = places.filter((place) => newest.get(identityOf(place))?.verdict === verdict);
  const wanted = [...newest.values()].filter((each) => each.verdict === verdict).length;
  if (kept.length < wanted) print(`${wanted - kept.length} of ${log.path} are not among these places`);
  return kept;
}

/** Answers whether a place survived, or was not judged. */
async function mutate(copy: ProjectCopy): Promise<boolean> {
  const project = copy.hash();
  const files = copy
    .sources()
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const places = files.flatMap((file) => placesIn(file, copy.read(file)));
  const name = [seed, ...words, ...(against === undefined ? [] : ["against", basename(against)])].join(" ");
  const log = new VerdictLog(join(CACHE, `${name.replaceAll(/[^\w.]+/g, "-")}.jsonl`));
  const chosen = chosenOf(places, log);
  const newest = log.newest();
  const judge = new Judge(copy, until);
  const counts = { killed: 0, survived: 0 };
  print(`${chosen.length} of ${places.length} places, verdicts in ${log.path}`);
  for (const place of chosen) {
    const known = newest.get(identityOf(place));
    const by = known?.project === project ? known.by : await judge.noticedBy(place);
    if (by === undefined) break;
    const { file, line, text, occurrence, change } = place;
    const verdict = by === null ? "survived" : "killed";
    if (known?.project !== project)
      log.append({ verdict, file, line, text, occurrence, change, by, project });
    counts[verdict] += 1;
    if (by === null) print(`${file}:${line}: no test notices where ${change}`);
  }
  for (const file of judge.leftOut)
    print(`${file} was left out: without any break it fails, or takes too long`);
  print(
    `${counts.killed} killed, ${counts.survived} survived of ${chosen.length} drawn: repeat with --seed ${seed}`,
  );
  return counts.killed < chosen.length;
}

const copy = await ProjectCopy.make();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void copy.remove().finally(() => process.exit(1)));
}
try {
  const isOpen = await mutate(copy);
  if (isOpen && against !== undefined) process.exitCode = 1;
} finally {
  await copy.remove();
}
