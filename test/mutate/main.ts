/**
 * `npm run mutate`: takes one property after the other away, in a copy of the project, and prints which tests notice.
 * Arguments choose breaks by words of their property or file; `--whole` runs the whole suite where the nearest tests
 * notice nothing. `--generated 40` breaks so many places of recently changed files instead, as the seed draws them, and
 * reports; `--seconds 60` bounds that.
 */
import { parseArgs } from "node:util";
import { ALL_BREAKS } from "./breaks.ts";
import { applyBreak } from "./apply-break.ts";
import type { Break } from "./break.ts";
import { breakGenerated } from "./generated.ts";
import { ProjectCopy } from "./project-copy.ts";

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    whole: { type: "boolean", default: false },
    generated: { type: "string" },
    seconds: { type: "string", default: "7200" },
  },
});
const { whole: isWhole, generated, seconds } = values;

const chosen = ALL_BREAKS.filter(({ property, file }) =>
  words.every((word) => property.includes(word) || file.includes(word)),
);

type Verdict = "killed" | "survived" | "does-not-apply";

async function judge(copy: ProjectCopy, each: Break): Promise<readonly [Verdict, string]> {
  const source = await copy.read(each.file);
  const broken = applyBreak(source, each);
  if (broken === null) return ["does-not-apply", `the text must occur once in ${each.file}`];
  await copy.write(each.file, broken);
  try {
    const nearest = await copy.firstFailure(each.tests);
    if (nearest !== null) return ["killed", nearest];
    const farther = isWhole ? await copy.firstFailure([]) : null;
    return farther === null ? ["survived", isWhole ? "whole suite" : "nearest tests"] : ["killed", farther];
  } finally {
    await copy.write(each.file, source);
  }
}

/** Answers whether every property was noticed to be gone. */
async function mutate(copy: ProjectCopy): Promise<boolean> {
  const nearest = [...new Set(chosen.flatMap(({ tests }) => tests))];
  const failure = chosen.length === 0 ? "no break has these words" : await copy.firstFailure(nearest);
  if (failure !== null) {
    process.stdout.write(`nothing was broken, since without any break: ${failure}\n`);
    return false;
  }
  const counts: Record<Verdict, number> = { killed: 0, survived: 0, "does-not-apply": 0 };
  for (const each of chosen) {
    const [verdict, detail] = await judge(copy, each);
    counts[verdict] += 1;
    process.stdout.write(`${verdict.padEnd(14)} ${each.property}\n${" ".repeat(15)}${detail}\n`);
  }
  process.stdout.write(
    `${counts.killed} killed, ${counts.survived} survived, ${counts["does-not-apply"]} do not apply\n`,
  );
  return counts.killed === chosen.length;
}

const copy = await ProjectCopy.make();
try {
  if (generated === undefined) process.exitCode = (await mutate(copy)) ? 0 : 1;
  else await breakGenerated(copy, { count: Number(generated), seconds: Number(seconds) });
} finally {
  await copy.remove();
}
