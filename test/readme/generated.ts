/**
 * What pages show of the code: diagrams, pictures and tables. `npm run pages` writes all of it, and a test compares it. The
 * words between stay as they are, and so do those in a table's columns that the code does not know.
 */
import { format, resolveConfig } from "prettier";
import { patterns } from "../../examples/patterns/patterns.ts";
import { drawMachines } from "../../src/cli/draw-machine.ts";
import { mermaidText } from "../../src/inspector/chart/draw-mermaid.ts";
import { readChart } from "../../src/inspector/chart/read-chart.ts";
import { DURABLE_LIMITS } from "../../src/payments/frame/accounts/count-hit.ts";
import { MAX_WEBHOOKS } from "../../src/payments/webhooks/webhook-limit.ts";
import type { Tier } from "../../src/payments/frame/tables/identity.ts";
import { WINDOWS } from "../../src/http/contract/limits.ts";
import { MEANINGS } from "../../src/http/openapi/webhooks.ts";
import { ERRORS, type ErrorCode } from "../../src/errors/error-table.ts";
import { remediesOf } from "../../src/errors/remedies.ts";
import { READS } from "../../src/ledger/reads.ts";
import { DURATIONS, GAUGES } from "../../src/telemetry/instruments.ts";
import { codeIn, ROOT, tableIn } from "./page.ts";
import { drawnRooms } from "./rooms.ts";

/** Makes a part of a page anew. */
type Part = (page: string) => string | Promise<string>;

type Row = readonly string[];

/** Puts these diagrams into the places of those on the page, in their order. Throws where there are more or fewer. */
const diagrams =
  (draw: () => Promise<readonly string[]>): Part =>
  async (page) => {
    const drawn = [...(await draw())];
    const count = drawn.length;
    const made = page.replaceAll(
      /^```mermaid\n[\s\S]*?^```$/gm,
      () => `\`\`\`mermaid\n${drawn.shift() ?? ""}\`\`\``,
    );
    const places = page.match(/^```mermaid$/gm)?.length ?? 0;
    if (places !== count) throw new Error(`expected places for ${count} diagrams, there are ${places}`);
    return made;
  };

/** Everything behind the line that begins with `mark`. */
const rest =
  (mark: string, text: () => string): Part =>
  (page) => {
    const at = page.indexOf(mark);
    if (at < 0) throw new Error(`expected a line "${mark}"`);
    return `${page.slice(0, at)}${mark}\n\n${text()}`;
  };

/** Makes the rows of the first table below the line that begins with `mark`, out of those that stand there. */
const table =
  (mark: string, rowsFrom: (present: readonly Row[]) => readonly Row[]): Part =>
  (page) => {
    const { rows, before, behind } = tableIn(page, mark);
    const marks = new Map(rows.map((cells) => [cells[0], MARK.exec(cells.at(-1) ?? "")?.[0]]));
    const lines = rowsFrom(rows).map((cells) => {
      const owner = marks.get(cells[0]);
      const isKept = owner === undefined || cells.at(-1)?.includes(owner) === true;
      return `| ${cells.join(" | ")}${isKept ? "" : ` ${owner}`} |\n`;
    });
    return `${before}${lines.join("")}${behind}`;
  };

/** What a row goes with stays in its last cell. */
const MARK = /<!-- modules: [^>]+ -->/;

const code = (word: string): string => `\`${word}\``;

const reads = Object.entries(READS).map(([read, { belief, witnesses, absence, decides }]) => [
  code(read),
  belief,
  witnesses,
  absence,
  decides,
]);

const instruments = [...DURATIONS, ...GAUGES].map(({ name, labels, description }) => [
  code(name),
  labels.map(code).join(", ") || "none",
  description,
]);

const events = Object.entries(MEANINGS).map(([event, meaning]) => [code(event), meaning]);

/** A section for each error code: its status, its message, and a remedy for each reason. */
function errorSections(): string {
  const sections = Object.entries(ERRORS).map(([name, { status, message }]) => {
    const remedies = remediesOf(name as ErrorCode);
    const lines = remedies.map(({ reason, remedy }) =>
      reason === null ? `**Remedy:** ${remedy}` : `- \`${reason}\`: ${remedy}`,
    );
    return `## ${name}\n\n${status}. ${message}\n\n${lines.join("\n")}\n`;
  });
  return sections.join("\n");
}

/** Every limit with its numbers, the words around them taken from the page; those of a new one are to be written. */
function limits(present: readonly Row[]): readonly Row[] {
  const numbers: readonly (readonly [string, Readonly<Record<Tier, number>>])[] = [
    ...Object.entries(DURABLE_LIMITS).map(([scope, { perTier }]) => [scope, perTier] as const),
    ...Object.values(WINDOWS).map(({ scope, perMinute }) => [scope, perMinute] as const),
    ["webhooks at a time", MAX_WEBHOOKS],
  ];
  return numbers.map(([name, { free, pro, enterprise }]) => {
    const own = present.find(([cell = ""]) => (codeIn(cell)[0] ?? cell) === name);
    const counts = [free, pro, enterprise].map((limit) => limit.toLocaleString("en-US"));
    return [own?.[0] ?? code(name), ...counts, own?.at(-1) ?? ""];
  });
}

/** What is made, by the file that it stands in. */
const PARTS: Readonly<Record<string, readonly Part[]>> = {
  "ARCHITECTURE.md": [diagrams(async () => [await drawnRooms()])],
  "src/guide/errors.md": [rest("<!-- npm run pages writes the sections below -->", errorSections)],
  "examples/README.md": [
    diagrams(async () =>
      Object.values(patterns).map(({ flow }) => `${mermaidText(readChart(flow.machine))}\n`),
    ),
  ],
  "machines/README.md": [
    diagrams(async () => (await drawMachines([], "mermaid")).split("\n\n").map((chart) => `${chart}\n`)),
  ],
  "machines/wallet-transfer.svg": [async () => `${await drawMachines(["wallet-transfer"], "svg")}\n`],
  "src/http/README.md": [
    table("## Limits", limits),
    table("## Webhooks", () => events), // modules: webhooks
  ],
  "src/solana/facts.md": [table("## Every read", () => reads)],
  "src/payments/operator/README.md": [table("### Instruments", () => instruments)],
};

export const GENERATED: readonly string[] = Object.keys(PARTS);

/** The text of a file with all that is generated made anew, as prettier has it. */
export async function madeAnew(file: string, text: string): Promise<string> {
  let made = text;
  for (const part of PARTS[file] ?? []) made = await part(made);
  if (!file.endsWith(".md")) return made;
  return format(made, { ...(await resolveConfig(`${ROOT}${file}`)), parser: "markdown" });
}
