/** The lock file: what `npm ci` installs is what was tested, to the byte. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** What the lock file says of a package. */
interface Locked {
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

const url = new URL("../../package-lock.json", import.meta.url);
const { packages } = JSON.parse(readFileSync(url, "utf8")) as {
  readonly packages: Readonly<Record<string, Locked>>;
};

/** Whether it is a binary that CI, on x64 Linux with glibc, leaves out: npm asks the registry for its hash at the install. */
function isOfOtherMachine({ optional, os, cpu, libc }: Locked): boolean {
  const suits = (allowed: readonly string[] | undefined, name: string): boolean =>
    allowed?.includes(name) ?? true;
  return optional === true && !(suits(os, "linux") && suits(cpu, "x64") && suits(libc, "glibc"));
}

test("every package that CI installs has an integrity hash", () => {
  const downloaded = Object.entries(packages).filter(
    ([path, { link, inBundle }]) => path.startsWith("node_modules/") && link !== true && inBundle !== true,
  );
  expect(downloaded.length).toBeGreaterThan(500);
  const without = downloaded.filter(
    ([, locked]) => locked.integrity === undefined && !isOfOtherMachine(locked),
  );
  expect(without.map(([path]) => path)).toEqual([]);
});
