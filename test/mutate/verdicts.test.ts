/** What is kept of the places that were broken, and what is judged again. */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as base } from "vitest";
import { placesIn } from "./places.ts";
import { VerdictLog, verdictOf, withVerdict } from "./verdicts.ts";

const test = base.extend<{ log: VerdictLog }>({
  log: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), "paystate-verdicts-"));
    await use(new VerdictLog(join(folder, "of", "7.jsonl")));
    rmSync(folder, { recursive: true });
  },
});

const PLACES = placesIn("src/x.ts", "a < b; c > d; e === f;");
const [FIRST, SECOND] = PLACES;
if (FIRST === undefined || SECOND === undefined) throw new Error("there are places");

test("a place that was judged is known to a later call, until the project has changed", ({ log }) => {
  log.append(verdictOf(FIRST, { by: "a test", project: "now" }));
  log.append(verdictOf(SECOND, { by: null, project: "now" }));
  const later = new VerdictLog(log.path);
  expect(later.known(FIRST, "now")).toMatchObject({ verdict: "killed", by: "a test", line: 1 });
  expect(later.known(SECOND, "now")).toMatchObject({ verdict: "survived", by: null });
  expect(later.known(FIRST, "changed")).toBeUndefined();
});

test("of two verdicts on one place the newer one counts", ({ log }) => {
  log.append(verdictOf(FIRST, { by: null, project: "before" }));
  log.append(verdictOf(FIRST, { by: "a new test", project: "after" }));
  expect(withVerdict(PLACES, log, "survived")).toEqual([]);
  expect(withVerdict(PLACES, log, "killed")).toEqual([FIRST]);
});

test("what was killed before is found again where its file has changed elsewhere", ({ log }) => {
  log.append(verdictOf(FIRST, { by: "a test", project: "before" }));
  log.append(verdictOf(SECOND, { by: null, project: "before" }));
  const places = placesIn("src/x.ts", "\n\ng(h);\nc > d;\na < b;");
  expect(withVerdict(places, log, "killed")).toMatchObject([{ line: 5, text: "a < b" }]);
});

test("a line that was cut short is no verdict, and the others are", ({ log }) => {
  log.append(verdictOf(FIRST, { by: "a test", project: "now" }));
  appendFileSync(log.path, '\n{"verdict":"kil');
  expect([...log.newest().values()]).toHaveLength(1);
  log.append(verdictOf(SECOND, { by: "a test", project: "now" }));
  expect(log.known(SECOND, "now")).toMatchObject({ verdict: "killed" });
});

test("where nothing was judged, nothing is known", ({ log }) => {
  expect(log.known(FIRST, "now")).toBeUndefined();
});
