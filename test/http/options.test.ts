/** The handler's options: all problems at once, defaults filled in. */
import { expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/create-http-handler.ts";
import { InvalidOptions } from "../../src/core/options.ts";

test("every wrong option is named, with its path", () => {
  const options = {
    service: {},
    basePath: "payments/",
    limits: { reads: { free: 0, pro: 1, enterprise: 1 } },
    authenticate: "key",
    tpyo: true,
  };
  const problems = problemsOf(() => createHttpHandler(options as never));
  expect(problems.map((problem) => problem.split(":")[0])).toEqual([
    "service",
    "basePath",
    "authenticate",
    "limits.reads.free",
    "options",
  ]);
});

test.each(["/", "/a/", "a", "/a//b", "/:id", "/a?b", "/*"])("the base path %j is refused", (basePath) => {
  const problems = problemsOf(() => createHttpHandler({ service: {}, basePath } as never));
  expect(problems.some((problem) => problem.startsWith("basePath"))).toBe(true);
});

function problemsOf(make: () => unknown): readonly string[] {
  try {
    make();
  } catch (thrown) {
    if (thrown instanceof InvalidOptions) return thrown.problems;
    throw thrown;
  }
  throw new Error("these options were taken");
}
