/** Planted mistakes are caught before anything happens, and a workflow is told in one line. */
import { dirname, join } from "node:path";
import ts from "typescript";
import { beforeAll, expect, test } from "vitest";
import { ROOT } from "../../readme/page.ts";
import { refused, uncompiled } from "./mistakes.ts";
import { engine, orders } from "./shop.ts";

const PATH = join(import.meta.dirname, "planted.ts");

const NAMES = "approval, engine, old, order, orders, weighed";

/** A program with a function for each mistake, and one for what is right. */
const PLANTED = [
  `import { workflow } from "paystate/engine";`,
  `import { ${NAMES} } from "./shop.ts";`,
  `export const names = { workflow, ${NAMES} };`,
  `export const approver = orders.child("approver");`,
  ...uncompiled.map(({ code }, index) => `export const planted${index} = () => ${code};`),
].join("\n");

const FIRST_LINE = 4;

/** The compiler's service over that program, as an editor has it. */
function languageService(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), (path) => ts.sys.readFile(path)) as {
    readonly config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const read = (path: string): string | undefined => (path === PATH ? PLANTED : ts.sys.readFile(path));
  return ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [PATH],
    getScriptVersion: () => "1",
    getScriptSnapshot: (path) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => dirname(PATH),
    getDefaultLibFileName: (given) => ts.getDefaultLibFilePath(given),
    fileExists: (path) => path === PATH || ts.sys.fileExists(path),
    readFile: read,
  });
}

let service: ts.LanguageService;
beforeAll(() => {
  service = languageService();
});

/** What the compiler says, by the line. */
function said(): ReadonlyMap<number, string> {
  const faults = [...service.getSyntacticDiagnostics(PATH), ...service.getSemanticDiagnostics(PATH)];
  return new Map(
    faults.map(({ start = 0, messageText }) => [
      PLANTED.slice(0, start).split("\n").length - 1,
      ts.flattenDiagnosticMessageText(messageText, "\n"),
    ]),
  );
}

test("U3: there are eighteen of them, and each does not compile or is refused at once, with what is right", async () => {
  expect(uncompiled.length + refused.length).toBe(18);
  const lines = said();
  expect([...lines.keys()].filter((line) => line < FIRST_LINE)).toEqual([]);
  for (const [index, { mistake, says }] of uncompiled.entries()) {
    expect(lines.get(FIRST_LINE + index) ?? "nothing", mistake).toMatch(says);
  }
  await engine.start(orders, { id: "o-1", input: { card: "4242" } });
  for (const { mistake, act, says } of refused) {
    await expect(async () => act(), mistake).rejects.toThrow(says);
  }
});

/** What an editor shows over a name. */
function hover(name: string): string {
  const parts = service.getQuickInfoAtPosition(PATH, PLANTED.indexOf(name))?.displayParts;
  return (
    ts
      .displayPartsToString(parts)
      .replace(/^\(alias\) /, "")
      .split("\nimport ")[0] ?? ""
  );
}

test("a hover of a workflow whose chart has a name is one short line", () => {
  expect(hover("orders, weighed }")).toBe("const orders: Workflow<OrderChart, unknown, never>");
});
