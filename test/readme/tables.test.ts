/** What the README lists is what there is: machines, options, dependencies. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { program } from "../programs/programs.ts";
import { blocks, codeIn, fieldsOf, PAGE, ROOT, tableBelow } from "./page.ts";

test("the diagrams are what `paystate machines --format mermaid` prints", () => {
  const args = [...program("paystate"), "machines", "--format", "mermaid"];
  const printed = execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" });
  expect(blocks("mermaid").join("\n")).toBe(printed);
});

test.each([
  ["createPaymentService", "src/service/payment-service-options.ts", "PaymentServiceOptions"],
  ["createHttpHandler", "src/http/create-http-handler.ts", "HttpHandlerOptions"],
  ["createEngine", "src/engine/engine-options.ts", "EngineOptions"],
])("the options of %s are all there", (factory, file, name) => {
  const listed = tableBelow(`**\`${factory}\`**`).flatMap(([option]) => codeIn(option));
  expect(listed.toSorted()).toEqual(fieldsOf(file, name).toSorted());
});

test("each dependency is named with its reason", () => {
  const manifest = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8")) as Record<
    "dependencies" | "peerDependencies" | "optionalDependencies",
    Record<string, string>
  >;
  const listed = tableBelow("### Dependencies").flatMap(([name]) => codeIn(name));
  const needed = [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.peerDependencies),
    // One runtime, one binary per platform.
    ...Object.keys(manifest.optionalDependencies).map((name) => name.replace(/^litesvm-.*/, "litesvm-*")),
  ];
  expect(listed.toSorted()).toEqual([...new Set(needed)].toSorted());
});

test("the command's own help has no option that the page has not", () => {
  const help = execFileSync(process.execPath, [...program("paystate"), "--help"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  const options = new Set([...help.matchAll(/--[a-z-]+/g)].map(([option]) => option));
  options.delete("--help");
  expect([...options].filter((option) => !PAGE.includes(option))).toEqual([]);
});
