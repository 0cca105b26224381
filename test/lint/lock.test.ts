/** The lock files: what `npm ci` installs is what was tested, to the byte, and a clone without the foreign tests is light. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What the lock file says of a package. */
interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  /** It is a folder of this repository. */
  readonly link?: boolean;
  /** It comes inside another package, whose hash covers it. */
  readonly inBundle?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

type Packages = Readonly<Record<string, Locked>>;

/** What was locked in a folder, without the folders of the repository that are linked to. */
function lockedIn(folder: string): Packages {
  const url = new URL(`../../${folder}package-lock.json`, import.meta.url);
  const { packages } = JSON.parse(readFileSync(url, "utf8")) as { readonly packages: Packages };
  return Object.fromEntries(Object.entries(packages).filter(([path]) => path.startsWith("node_modules/")));
}

const LOCKS = {
  "": lockedIn(""),
  "examples/": lockedIn("examples/"),
  "test/foreign/": lockedIn("test/foreign/"),
};

/** Whether it is a binary that CI, on x64 Linux with glibc, leaves out: npm asks the registry for its hash at the install. */
function isOfOtherMachine({ optional, os, cpu, libc }: Locked): boolean {
  const suits = (allowed: readonly string[] | undefined, name: string): boolean =>
    allowed?.includes(name) ?? true;
  return optional === true && !(suits(os, "linux") && suits(cpu, "x64") && suits(libc, "glibc"));
}

test.each(Object.entries(LOCKS))(
  "every package that CI installs in %j has an integrity hash",
  (_, packages) => {
    const downloaded = Object.entries(packages).filter(
      ([, { link, inBundle }]) => link !== true && inBundle !== true,
    );
    expect(downloaded.length).toBeGreaterThan(60);
    const without = downloaded.filter(
      ([, locked]) => locked.integrity === undefined && !isOfOtherMachine(locked),
    );
    expect(without.map(([path]) => path)).toEqual([]);
  },
);

test("a clone names 520 packages at most", () => {
  expect(Object.keys(LOCKS[""]).length).toBeLessThanOrEqual(520);
});

test("what a clone and the foreign tests both have at the top has one version", () => {
  const ours = LOCKS[""];
  const shared = Object.entries(LOCKS["test/foreign/"]).filter(
    // What stands below another package is there because that package needs another version.
    ([path]) => path.lastIndexOf("node_modules/") === 0 && path in ours,
  );
  expect(shared.length).toBeGreaterThan(50);
  expect(shared.filter(([path, { version }]) => ours[path]?.version !== version)).toEqual([]);
});
