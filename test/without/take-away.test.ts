/** Taking a module away leaves what is whole without it. */
import { expect, test } from "vitest";
import { goesWith, pageWithout, sourceWithout } from "./take-away.ts";

test("a file goes with the modules of its head alone", () => {
  expect(goesWith("/** Jobs. */\n// modules: jobs, search\nimport")).toEqual(["jobs", "search"]);
  expect(goesWith(`${"\n".repeat(10)}// modules: jobs`)).toEqual([]);
});

test("D67: a list loses the lines of what is gone, and keeps those of its neighbours", () => {
  const list = [
    'import { ask } from "./ask.ts";',
    'import { jobs, type JobCalls as Calls } from "./jobs.ts";',
    'export type { Job } from "./jobs.ts";',
    "const LIST = [",
    "  ask,",
    "  jobs,",
    "];",
    "type All =",
    "  & Calls",
    "  & object;",
    'const load = () => import("./jobs.ts");',
    "const jobsDone = 1;",
    "engine.each(orders); // modules: jobs",
  ];
  const { text, gone } = sourceWithout(list.join("\n"), {
    file: (path) => path === "./jobs.ts",
    module: (name) => name === "jobs",
  });
  expect(text.split("\n")).toEqual([list[0], list[3], list[4], list[6], list[7], list[9], list[11]]);
  expect(gone).toHaveLength(6);
});

test("a mark alone in a line takes the part below it, with its docstring, to its end", () => {
  const text = [
    "const kept = 1;",
    "// modules: jobs",
    "/**",
    " * Does a job.",
    " */",
    "// Now.",
    "export function job({",
    "  at,",
    "}) {",
    "",
    "  if (at) {",
    "  }",
    "}",
    "",
    "const list = {",
    "  // modules: jobs",
    "  job: 1,",
    "  // modules: ask",
    "  ask: {",
    "  },",
    "};",
  ];
  const left = sourceWithout(text.join("\n"), { file: () => false, module: (name) => name === "jobs" });
  expect(left.text.split("\n")).toEqual([text[0], text[13], text[14], ...text.slice(17)]);
});

test("an import loses the names that only what went has named", () => {
  const { text } = sourceWithout(
    [
      'import { ask, type Job, job as done } from "./both.ts";',
      'import type { Job } from "./job.ts";',
      'import jobs from "jobs";',
      "/** A job is done. */",
      'done("by a Job"); // ask',
      "const job: Job = ask(jobs); // modules: jobs",
    ].join("\n"),
    { file: () => false, module: (name) => name === "jobs" },
  );
  expect(text.split("\n")).toEqual([
    'import { job as done } from "./both.ts";',
    "/** A job is done. */",
    'done("by a Job"); // ask',
  ]);
});

test("a page loses marked sections with all below them, and marked lines", () => {
  const page = [
    "# Page",
    "- one <!-- modules: ask -->",
    "- two <!-- modules: jobs -->",
    "## Jobs",
    "",
    "<!-- modules: jobs -->",
    "### More",
    "text",
    "## Ask",
    "text",
  ];
  const { text } = pageWithout(page.join("\n"), (module) => module === "jobs");
  expect(text.split("\n")).toEqual([page[0], page[1], page[8], page[9]]);
});
