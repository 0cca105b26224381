/** The projects that `paystate init` writes; test/package installs and runs them. */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { packageSource } from "../../src/cli/package-source.ts";
import { runCommand } from "../../src/cli/program.ts";
import { ROOT } from "../readme/page.ts";
import { wrongCall } from "./wrong-call.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;

let parent = "";
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "paystate-init-"));
});
afterEach(() => rmSync(parent, { recursive: true }));

test("prints the next three commands, and names the package by its folder", async () => {
  const folder = join(parent, "My Shop!");
  const printed: string[] = [];
  await runCommand(["init", "payments", folder], (text) => void printed.push(text));
  expect(printed.join("\n").split("\n").slice(-3)).toEqual([
    `  cd '${folder}'`,
    "  npm install",
    "  npm start",
  ]);
  expect(manifestIn(folder).name).toBe("my-shop");
  expect(readdirSync(folder)).toContain(".gitignore");
});

test("on a Node whose driver of SQLite may have to be compiled it says so, and on no other", async () => {
  const printed: string[] = [];
  await runCommand(["init", "engine", join(parent, "shop")], (text) => void printed.push(text));
  const isNode20 = process.versions.node.startsWith("20.");
  expect(printed.join("\n").includes("From Node 22 on it comes compiled")).toBe(isNode20);
});

test.each(["engine", "payments"])("%s takes what the tests of the package take", async (kind) => {
  const folder = join(parent, kind);
  await runCommand(["init", kind, folder], () => undefined);
  const made = manifestIn(folder);
  const ours = manifestIn(ROOT);
  const examples = manifestIn(join(ROOT, "examples"));
  const [forNode20, forLater] = (ours.peerDependencies["better-sqlite3"] ?? "").split(" || ");
  const known = {
    ...examples.dependencies,
    ...examples.devDependencies,
    ...ours.dependencies,
    ...ours.devDependencies,
    "better-sqlite3": Number(process.versions["napi"]) >= 10 ? forLater : forNode20,
    paystate: `^${ours.version}`,
  };
  expect(known).toMatchObject({ ...made.dependencies, ...made.devDependencies });
});

describe("the package of the new project", () => {
  const own = (resolved: string): string => {
    const folder = join(parent, "tools/node_modules/paystate");
    mkdirSync(folder, { recursive: true });
    const lock = { packages: { "node_modules/paystate": { resolved } } };
    writeFileSync(join(parent, "tools/node_modules/.package-lock.json"), JSON.stringify(lock));
    return packageSource(folder);
  };
  const range = `^${manifestIn(ROOT).version}`;

  test("is the tarball that the command was installed from", () => {
    writeFileSync(join(parent, "paystate-0.1.0.tgz"), "");
    expect(own("file:../paystate-0.1.0.tgz")).toBe(`file:${join(parent, "paystate-0.1.0.tgz")}`);
  });

  test("is that of the registry where it came from there, where the tarball is gone, and in a clone", () => {
    expect(own("https://registry.npmjs.org/paystate/-/paystate-0.1.0.tgz")).toBe(range);
    expect(own("file:../gone.tgz")).toBe(range);
    expect(packageSource(ROOT)).toBe(range);
  });
});

test("a folder that holds something is refused, and left as it is", async () => {
  writeFileSync(join(parent, "package.json"), "mine");
  expect(await wrongCall(["init", "engine", parent])).toBe(
    `${parent}: expected a new folder, or an empty one`,
  );
  expect(readdirSync(parent)).toEqual(["package.json"]);
  expect(readFileSync(join(parent, "package.json"), "utf8")).toBe("mine");
});

test("what cannot become a folder is refused, and a link that leads nowhere is left as it is", async () => {
  const link = join(parent, "link");
  symlinkSync(join(parent, "nowhere"), link);
  for (const folder of [link, ""]) {
    expect(await wrongCall(["init", "engine", folder])).toBe(
      `${folder}: expected a new folder, or an empty one`,
    );
  }
  expect(readdirSync(parent)).toEqual(["link"]);
});

test.each(["$(echo obeyed)", "it's `ls` here", 'say "hi"', "node_modules", "favicon.ico", "two\nlines!"])(
  "the printed cd leads a shell into the folder %j, whose project npm takes",
  async (name) => {
    const printed: string[] = [];
    await runCommand(["init", "engine", join(parent, name)], (text) => void printed.push(text));
    const [, cd = ""] = /\n {2}(cd [^]*)\n {2}npm install/.exec(printed.join("\n")) ?? [];
    const place = execFileSync("sh", ["-c", `${cd} && pwd`], { encoding: "utf8" });
    expect(place).toBe(`${realpathSync(join(parent, name))}\n`);
    expect(["node_modules", "favicon.ico"]).not.toContain(manifestIn(join(parent, name)).name);
  },
);

test("a project that could not be written whole has no package.json, which npm would install", async () => {
  const folder = join(parent, "half");
  const written = vi.spyOn(JSON, "stringify").mockImplementation(() => {
    throw new Error("killed");
  });
  try {
    await expect(runCommand(["init", "engine", folder], () => undefined)).rejects.toThrow("killed");
  } finally {
    written.mockRestore();
  }
  expect(readdirSync(folder)).toContain("main.ts");
  expect(readdirSync(folder)).not.toContain("package.json");
});
