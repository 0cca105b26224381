/**
 * `npm run mutate -- src/payments/private --draw 100`: breaks so many places of these sources as a seed draws them, one
 * after the other in a copy of the project, and prints which no test notices. README.md tells the options.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chooseSeed } from "../kit/seed.ts";
import { drawnBy } from "./draw.ts";
import { Judge } from "./judge.ts";
import { placesIn, type Place } from "./places.ts";
import { ProjectCopy } from "./project-copy.ts";
import { VerdictLog, verdictOf, withVerdict } from "./verdicts.ts";

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

/** What is to be judged: the draw, or what of it has survived so far, or what an earlier log calls killed. */
function chosenOf(places: readonly Place[], log: VerdictLog): readonly Place[] {
  if (against !== undefined) return killedIn(new VerdictLog(against), places);
  const drawn = drawnBy(seed, places).slice(0, Number(values.draw));
  return isAgain ? withVerdict(drawn, log, "survived") : drawn;
}

function killedIn(log: VerdictLog, places: readonly Place[]): readonly Place[] {
  const killed = withVerdict(places, log, "killed");
  const gone =
    [...log.newest().values()].filter(({ verdict }) => verdict === "killed").length - killed.length;
  if (gone > 0) print(`${gone} killed places of ${log.path} are not here any more, or not chosen`);
  return killed;
}

/** Answers whether every place was judged, and killed. */
async function mutate(copy: ProjectCopy): Promise<boolean> {
  const project = copy.hash();
  const files = copy
    .sources()
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
  const places = files.flatMap((file) => placesIn(file, copy.read(file)));
  const log = new VerdictLog(join(CACHE, `${nameOfLog()}.jsonl`));
  const chosen = chosenOf(places, log);
  const judge = new Judge(copy, until);
  const counts = { killed: 0, survived: 0 };
  print(`${chosen.length} of ${places.length} places, verdicts in ${log.path}`);
  for (const place of chosen) {
    const known = log.known(place, project);
    const by = known === undefined ? await judge.noticedBy(place) : known.by;
    if (by === undefined) break;
    if (known === undefined) log.append(verdictOf(place, { by, project }));
    counts[by === null ? "survived" : "killed"] += 1;
    if (by === null) print(`${place.file}:${place.line}: no test notices where ${place.change}`);
  }
  for (const file of judge.leftOut) {
    print(`${file} was left out: without any break it fails, or takes too long`);
  }
  print(
    `${counts.killed} killed, ${counts.survived} survived of ${chosen.length} drawn: repeat with --seed ${seed}`,
  );
  return counts.killed === chosen.length;
}

/** Of the seed and the arguments, so that the same call finds it again; a longer draw goes on with a shorter one. */
function nameOfLog(): string {
  const parts = [seed, ...words, ...(against === undefined ? [] : ["against", basename(against, ".jsonl")])];
  return parts.join(" ").replaceAll(/[^\w.]+/g, "-");
}

const copy = await ProjectCopy.make();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    copy.remove();
    process.exit(1);
  });
}
try {
  const isAllKilled = await mutate(copy);
  if (!isAllKilled && against !== undefined) process.exitCode = 1;
} finally {
  copy.remove();
}
