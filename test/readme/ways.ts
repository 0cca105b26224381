/** The length of a walk, in files and named functions, room by room; then its files: `npm run way -- send`. */
// modules: private, webhooks
import { FunctionCount } from "./function-count.ts";

/** Rooms whose figures are added up. */
interface Group {
  readonly name: string;
  readonly rooms: readonly string[];
}

/** What a payment is made of, and apart from it what carries it. */
const GROUPS: readonly Group[] = [
  { name: "payment", rooms: ["machines", "src/payments", "src/service", "src/ledger", "src/solana"] },
  { name: "engine", rooms: ["storage", "src/workflow", "src/engine"] },
];

/** The chain is the development's own, and its clients are none of the service. */
const COUNTED = /^(machines|storage|src\/(?!local\/|cli\/))/;

const [, , name = ""] = process.argv;
const count = await FunctionCount.open();
const { WALKS } = await import("./walks.ts");
if (!Object.hasOwn(WALKS, name)) throw new Error(`expected one of ${Object.keys(WALKS).join(", ")}`);

/** One path for each function. */
const ran = (await WALKS[name as keyof typeof WALKS](count)).filter((path) => COUNTED.test(path));

const isIn = (path: string, rooms: readonly string[]): boolean =>
  rooms.some((room) => path.startsWith(`${room}/`));

/** A line of the table: how many files, and how many functions in them. */
function line(title: string, paths: readonly string[]): string {
  const figures = [new Set(paths).size, paths.length].map((figure) => String(figure).padStart(11));
  return `${title.padEnd(14)}${figures.join("")}`;
}

const lines = GROUPS.flatMap(({ name: total, rooms }) => [
  ...rooms.map((room) =>
    line(
      room,
      ran.filter((path) => isIn(path, [room])),
    ),
  ),
  line(
    `= ${total}`,
    ran.filter((path) => isIn(path, rooms)),
  ),
  "",
]);
const grouped = GROUPS.flatMap(({ rooms }) => rooms);
const rest = line(
  "the rest",
  ran.filter((path) => !isIn(path, grouped)),
);
const files = [...new Set(ran)].toSorted();
process.stdout.write([`${"".padEnd(14)}      files  functions`, ...lines, rest, "", ...files, ""].join("\n"));
