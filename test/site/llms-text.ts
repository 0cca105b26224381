/** `llms.txt` and the text of each page beside the site, for readers that are programs. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { INDEX } from "./doors.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The heading of a page and its first sentence. */
function introduced(page: string): string {
  const text = readFileSync(join(ROOT, page), "utf8");
  const [, title = page] = /^# (.+)$/m.exec(text) ?? [];
  const [, paragraph = ""] = /^# .+\n\n(?:\*\*)?([A-Z][^\n]+)/m.exec(text) ?? [];
  const [sentence = ""] = paragraph.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").split(/(?<=\.) /);
  const { question } = INDEX.find(({ file }) => file === page) ?? {};
  const asked = question === undefined ? "" : ` Answers: ${question}`;
  return `- [${title}](${page}): ${sentence.replaceAll("**", "")}${asked}`;
}

/** Writes `llms.txt`, and each page under its own path. */
export function writeTexts(outDir: string, pages: readonly string[]): void {
  for (const page of pages) {
    const place = join(outDir, page);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, readFileSync(join(ROOT, page)));
  }
  const lines = pages.map(introduced).join("\n");
  writeFileSync(
    join(outDir, "llms.txt"),
    `# paystate\n\n> Durable XState charts, and a Solana payment API.\n\n${lines}\n`,
  );
}
