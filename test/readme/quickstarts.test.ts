/** The quickstarts are short, and show the very lines of the projects that `paystate init` writes. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT, textOf } from "./page.ts";
import { QUICKSTARTS, templateOf } from "./quickstarts.ts";

const MAX_BYTES = 6_000;

const squeezed = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

test.each(Object.entries(QUICKSTARTS))("the quickstart of %s fits on a screen or two", (_kind, page) => {
  expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(MAX_BYTES);
});

test.each(Object.entries(QUICKSTARTS))(
  "each excerpt of the quickstart of %s stands in its project",
  (kind, page) => {
    const excerpts = [...textOf(page).matchAll(/^```ts (\S+\.ts)\n([\s\S]*?)^```$/gm)].filter(([, file]) =>
      existsSync(`${ROOT}examples/init/templates/${kind}/${file}`),
    );
    expect(excerpts.length).toBeGreaterThan(2);
    for (const [, file = "", code = ""] of excerpts) {
      expect(squeezed(templateOf(kind, file)), `${page}: ${file}`).toContain(squeezed(code));
    }
  },
);
