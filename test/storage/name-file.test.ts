/** A backup gets its name in one step, with hard links and without, and overwrites nothing. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test as vitestTest } from "vitest";
import { nameFile } from "../../storage/sqlite/name-file.ts";

const test = vitestTest.extend("folder", async ({}, { onCleanup }) => {
  const folder = mkdtempSync(join(tmpdir(), "paystate-name-"));
  onCleanup(() => {
    rmSync(folder, { recursive: true });
  });
  return folder;
});

function refuse(code: string): () => never {
  return () => {
    throw Object.assign(new Error("link"), { code });
  };
}

for (const code of ["EPERM", "ENOTSUP", "EOPNOTSUPP"]) {
  test(`where hard links are answered ${code} a file is renamed`, ({ folder }) => {
    const [partial, file] = [join(folder, "a.partial"), join(folder, "a")];
    writeFileSync(partial, "the copy");
    nameFile(partial, file, refuse(code));
    expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["the copy", ["a"]]);
  });
}

test("what has the name already is not overwritten, neither by a link nor without one", ({ folder }) => {
  const [partial, file] = [join(folder, "a.partial"), join(folder, "a")];
  writeFileSync(partial, "the copy");
  writeFileSync(file, "another's");
  expect(() => nameFile(partial, file)).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect(() => nameFile(partial, file, refuse("EPERM"))).toThrow(expect.objectContaining({ code: "EEXIST" }));
  expect([readFileSync(file, "utf8"), readFileSync(partial, "utf8")]).toEqual(["another's", "the copy"]);
});

test("without links a rename that fails leaves nothing under the name, and any other failure of a link is told", ({
  folder,
}) => {
  const file = join(folder, "a");
  expect(() => nameFile(join(folder, "none"), file, refuse("EPERM"))).toThrow(/ENOENT/);
  expect(() => nameFile(join(folder, "none"), file, refuse("EIO"))).toThrow(
    expect.objectContaining({ code: "EIO" }),
  );
  expect(readdirSync(folder)).toEqual([]);
});
