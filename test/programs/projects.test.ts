/** Each test runs somewhere: a name that no project has would be run by none. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import config from "../vitest.config.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FILES = readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".test.ts") && !/node_modules|^foreign\//.test(path))
  .map((path) => `test/${path}`);

const projects = (config({ mode: "test", command: "serve" }).test?.projects ?? []) as readonly {
  readonly test: { readonly name: string; readonly include: readonly string[] };
}[];

test("what stands before `.test.ts` in a name is a project's name, or nothing", () => {
  const names = new Set(projects.map(({ test: { name } }) => name));
  const named = FILES.map((path) => path.split("/").at(-1)?.split(".").slice(1, -2) ?? []).filter(
    (parts) => parts.length > 0,
  );
  const unknown = named.filter((parts) => parts.length > 1 || !names.has(parts[0] ?? ""));
  expect(named.length).toBeGreaterThan(100);
  expect(unknown).toEqual([]);
});

test("a file of `rest` that asks for every database is run with PostgreSQL, too", () => {
  const ofPostgres = projects.flatMap(({ test: { name, include } }) => (name === "postgres" ? include : []));
  const rest = FILES.filter((path) => path.split("/").at(-1)?.split(".").length === 3);
  const asking = rest.filter((path) =>
    /^import [^;]*?\b(everyAdapter|hostDatabases|sharedDatabaseTests|databasesOfProject)\b[^;]*? from/m.test(
      readFileSync(join(ROOT, path), "utf8"),
    ),
  );
  expect(asking.length).toBeGreaterThan(5);
  for (const path of asking) {
    const [folder, name] = [path.slice(0, path.lastIndexOf("/")), path.split("/").at(-1) ?? ""];
    const listed = ofPostgres.filter((pattern) => pattern.startsWith(`${folder}/`)).join(" ");
    expect(listed, path).toMatch(new RegExp(`[/{,]${name.replace(".test.ts", "")}[,}.]`));
  }
});

test("a file of `rest` has no test of PostgreSQL that would run nowhere", () => {
  const rest = FILES.filter((path) => path.split("/").at(-1)?.split(".").length === 3);
  const asking = rest.filter((path) =>
    /^import [^;]*?\b(HAS_POSTGRES|postgresUrl)\b[^;]*? from/m.test(readFileSync(join(ROOT, path), "utf8")),
  );
  expect(asking).toEqual(["test/storage/contract.test.ts"]);
});
