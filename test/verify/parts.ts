/** The parts of a verification, declared once: what `npm run verify` does before a push, and what CI does. */

/** A command, and what has to be over before it begins. */
export interface Part {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Names of parts of the same run; others are taken to be done. */
  readonly after?: readonly string[];
  /** It prints figures to be read, and never fails the run. */
  readonly isToRead?: boolean;
}

const script = (name: string, ...args: string[]): Part => ({
  name,
  command: ["npm", "run", "--silent", name, ...(args.length === 0 ? [] : ["--", ...args])],
});

/** None of them needs a compiled module. */
const CHECKS: readonly Part[] = [
  script("build"),
  script("typecheck"),
  script("lint"),
  script("format:check"),
  script("layers"),
  script("deadcode"),
  script("words"),
  script("docs:check"),
  { ...script("package:check"), after: ["build"] },
];

/** Before a push: every check, and what `npm test` runs. */
export const BEFORE_A_PUSH: readonly Part[] = [script("test"), ...CHECKS];

/** How long generators may draw in CI, in all. */
const EXPLORE_SECONDS = "180";
/** The file that a run of all tests writes. */
export const REPORT = "node_modules/.cache/paystate-tests.json";

const EVERY_TEST = {
  name: "test",
  command: [
    "env",
    `PAYSTATE_EXPLORE_SECONDS=${EXPLORE_SECONDS}`,
    ...["npm", "test", "--", "--project", "*", "--mode", "ci"],
    ...["--reporter=dot", "--reporter=json", `--outputFile.json=${REPORT}`],
  ],
} as const;

/** Builds what `npm ci --ignore-scripts` has left unbuilt. */
const COMPILE: Part = {
  name: "compile",
  command: ["sh", "-c", `node -e 'new (require("better-sqlite3"))(":memory:")' || npm rebuild --silent`],
};

const BESIDE_ONE_ANOTHER: readonly Part[] = [
  COMPILE,
  ...CHECKS,
  { ...script("test:package"), after: ["build", "compile"] },
  { ...script("test:nodes"), after: ["compile"] },
];

const ALL_ELSE = BESIDE_ONE_ANOTHER.map(({ name }) => name);

/** Everything. The tests keep two cores busy by themselves, and the bench would measure its neighbours: each comes alone. */
export const EVERYTHING: readonly Part[] = [
  ...BESIDE_ONE_ANOTHER,
  { ...EVERY_TEST, after: ALL_ELSE },
  { ...script("bench", "cpu"), after: [...ALL_ELSE, EVERY_TEST.name], isToRead: true },
];
