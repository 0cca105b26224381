/**
 * `npm run words [-- GROUP [FAULT [PART_OF_PLACE]]]`: lists sentences that are hard to read, by place, and counts them. Ends with
 * 1 where a group has more of a fault than its bound; a bound is lowered with each mend.
 */
import { findingsIn, type Fault } from "./findings.ts";
import { GROUPS, type Group } from "./texts.ts";

/** The most of each fault in 1,000 sentences. A group without a bound of a fault is counted only. */
const BOUNDS: Readonly<Record<Group, Partial<Record<Fault, number>>>> = {
  comments: { opening: 0, pronouns: 2, length: 2 },
  messages: { opening: 0, pronouns: 0, length: 0 },
  pages: { opening: 0, pronouns: 0, length: 0 },
};

const FAULTS: readonly Fault[] = ["opening", "pronouns", "length"];

const [onlyGroup, onlyFault, part = ""] = process.argv.slice(2);
const write = (line: string): void => void process.stdout.write(`${line}\n`);

let isOver = false;
for (const [name, texts] of Object.entries(GROUPS) as [Group, () => ReturnType<(typeof GROUPS)[Group]>][]) {
  if (onlyGroup !== undefined && onlyGroup !== name) continue;
  const read = texts();
  const count = read.reduce((sum, { sentences }) => sum + sentences.length, 0);
  const found = read.flatMap(({ place, sentences }) =>
    findingsIn(sentences).map((finding) => ({ place, ...finding })),
  );
  for (const { place, line, fault, text } of found) {
    const isShown = onlyGroup !== undefined && (onlyFault ?? fault) === fault && place.includes(part);
    if (isShown) write(`${fault}  ${place}:${line}  ${text}`);
  }
  const counts = FAULTS.map((fault) => {
    const number = found.filter((each) => each.fault === fault).length;
    const bound = BOUNDS[name][fault];
    const over = bound !== undefined && (number / Math.max(1, count)) * 1_000 > bound;
    if (over) isOver = true;
    return `${number} ${fault}${over ? ` (more than ${bound} in 1,000)` : ""}`;
  });
  write(`${name}: ${count} sentences, ${counts.join(", ")}`);
}
process.exitCode = isOver ? 1 : 0;
