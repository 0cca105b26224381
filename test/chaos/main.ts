// modules: private, webhooks
/**
 * `npm run chaos`: kills the service five hundred times under load, on SQLite and PostgreSQL, with 1, 2 and 4 processes,
 * while the chain fails, turns the clocks until every deposit address has closed, and judges what is left. `--form each-second`
 * kills one of four processes each second for a minute; `--form stepped-clocks` puts the clocks of all machines, and of one, back
 * and on by an hour meanwhile; `--form full-disk`, as root, leaves two processes on SQLite without room for some seconds, twice;
 * `--form failover` has a standby of PostgreSQL take over, in one of four ways that the seed draws;
 * `--form replaced-file` deletes the file of SQLite for some seconds, twice, or puts an older copy in its place, or cuts it short.
 * `--kills`, `--database`, `--processes` and `--seed` choose.
 */
import { randomInt } from "node:crypto";
import { clearLine, cursorTo } from "node:readline";
import { parseArgs } from "node:util";
import compilePrograms from "../programs/compile.ts";
import { type ChaosSettings, commandOf, FORMS, isForm, planOf } from "./plan.ts";
import { type OnProgress, runChaos } from "./world.ts";

const { values } = parseArgs({
  options: {
    form: { type: "string", default: "drawn" },
    kills: { type: "string" },
    database: { type: "string" },
    processes: { type: "string" },
    seed: { type: "string", default: String(randomInt(0x7fff_ffff)) },
  },
});

/** In all runs together, and in each. */
const ALL_DRAWN = 500;
const SECONDS = 60;

const wholeNumber = (name: string, text: string): number => {
  if (/^\d+$/.test(text) && Number(text) <= 0x7fff_ffff) return Number(text);
  throw new TypeError(`--${name} takes whole numbers, not ${JSON.stringify(text)}`);
};

const { form } = values;
if (!isForm(form)) {
  throw new TypeError(`--form takes ${Object.keys(FORMS).join(", ")}, not ${JSON.stringify(form)}`);
}
const databases = (values.database ?? FORMS[form].databases).split(",").map((name) => {
  if (name === "sqlite" || name === "postgres") return name;
  throw new TypeError(`--database takes sqlite, postgres or both with a comma, not ${JSON.stringify(name)}`);
});
const processes = (values.processes ?? FORMS[form].processes)
  .split(",")
  .map((text) => wholeNumber("processes", text));
const runCount = databases.length * processes.length;
const allKills = form === "each-second" ? SECONDS * runCount : ALL_DRAWN;
const kills = Math.ceil(wholeNumber("kills", values.kills ?? String(allKills)) / runCount);
const seed = wholeNumber("seed", values.seed);
const runs = databases.flatMap((database) =>
  processes.map((count): ChaosSettings => ({ form, database, processes: count, kills, seed })),
);

const BAR_WIDTH = 30;

/** A bar that grows on a terminal; a line for every tenth elsewhere. */
function progressOf(settings: ChaosSettings): OnProgress {
  let shown = "";
  return (count, doing) => {
    const share = Math.min(1, count / settings.kills);
    if (process.stdout.isTTY) {
      const filled = Math.floor(share * BAR_WIDTH);
      cursorTo(process.stdout, 0);
      clearLine(process.stdout, 1);
      process.stdout.write(
        `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${count} killed, ${doing}`,
      );
      return;
    }
    const line = share < 1 ? `  ${Math.floor(share * 10) * 10} % of the kills` : `  ${count} killed`;
    if (line !== shown) process.stdout.write(`${line}, ${doing}\n`);
    shown = line;
  };
}

const forget = await compilePrograms();
process.stdout.write(`chaos with seed ${seed}\n`);
let broken = 0;
try {
  for (const settings of runs) {
    const { database, processes: count } = settings;
    const { failover, replacement } = planOf(settings);
    const drawn = { failover: `, ${failover}`, "replaced-file": `, ${replacement}` } as const;
    const kind = form === "failover" || form === "replaced-file" ? drawn[form] : "";
    process.stdout.write(`${database}, ${count} ${count === 1 ? "process" : "processes"}${kind}\n`);
    const { findings, orders, turns, seconds, complaints, stored, ...lived } = await runChaos(
      settings,
      progressOf(settings),
    );
    if (process.stdout.isTTY) process.stdout.write("\n");
    broken += findings.length;
    process.stdout.write(
      `  ${settings.kills} killed under load and ${lived.kills - settings.kills} in ${turns} turns of the clocks, ` +
        `${orders} orders, ${lived.ordersUnderLoad} of them under load, ${seconds.toFixed(0)} s: ${findings.length} findings\n`,
    );
    if (findings.length === 0) continue;
    process.stdout.write(
      `${stored}\n${complaints.slice(-4_000)}\n${findings.join("\n")}\nrepeat with: ${commandOf(settings)}\n`,
    );
  }
} finally {
  await forget();
}
process.exitCode = broken === 0 ? 0 : 1;
