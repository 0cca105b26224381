/** The links between pages: each leads to a file, a folder or a heading that exists. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { expect, test } from "vitest";
import { linksOf, PAGES, proseOf, ROOT } from "./page.ts";

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Why a link of a page leads nowhere; null when it does not. */
function faultOf(page: string, link: string): string | null {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : normalize(join(dirname(page), path));
  if (!existsSync(`${ROOT}${target}`)) return `${page}: ${link}: there is no ${target}`;
  if (anchor === undefined) return null;
  const isHeading = statSync(`${ROOT}${target}`).isFile() && anchorsOf(target).has(anchor);
  return isHeading ? null : `${page}: ${link}: no heading #${anchor} in ${target}`;
}

test("each link between pages leads to something that exists", () => {
  const links = PAGES.flatMap((page) => linksOf(page).map((link) => [page, link] as const));
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(([page, link]) => faultOf(page, link)).filter((fault) => fault !== null)).toEqual([]);
});

test("the README leads to every page, to those about its making by the page about contributing", () => {
  const linked = new Set(
    ["README.md", "CONTRIBUTING.md"].flatMap((page) => linksOf(page).map((link) => link.split("#")[0])),
  );
  const first = new Set(["README.md", "CONTRIBUTING.md"]);
  expect(PAGES.filter((page) => !first.has(page) && !linked.has(page))).toEqual([]);
});
