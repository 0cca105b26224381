/** `paystate doctor`: what this machine, a database file and a service look like, a line for each check. */
import { dirname, resolve } from "node:path";
import type { DiagnosisQuery } from "../../service/diagnosis.ts";
import { openService, type OperatorService, type ServiceOptions } from "../open-service.ts";
import { ownManifest } from "../manifest.ts";
import { databaseFile, type DatabaseOptions } from "../open-database.ts";
import { type Print, UsageError } from "../command.ts";
import { ProgressBar } from "../progress-bar.ts";
import { table } from "../../core/table.ts";
import { isPostgres } from "../url-or-path.ts";
import { checkDatabase, checkPages, checkSamples } from "./check-database.ts";
import { checkDisk, readDiskSpace, checkDriver, checkNode } from "./check-machine.ts";
import { fine, wrong, type DiagnosisFinding } from "../../service/diagnosis/finding.ts";

/** Options of the doctor: the database, the service, and the format of the answer. */
interface DoctorOptions extends DatabaseOptions, ServiceOptions {
  readonly json: boolean;
  /** Reads each page of the database, and not samples. */
  readonly full: boolean;
  /** Checks also what matters once real money moves. */
  readonly live: boolean;
}

/** The exit code where something is not ready for real money, and nothing is wrong. */
const UNREADY = 2;

/** Prints a line for each check, and resolves with the exit code: 1 where one is wrong, 2 with `live` where one warns. */
export async function doctor(wanted: DoctorOptions, print: Print): Promise<number> {
  const kind = databaseKind(wanted);
  const findings = [
    ...(await examineMachine(kind)),
    ...(kind === null ? [] : await examineDatabase(wanted)),
    ...(isServiceNamed(wanted) ? await examineService(wanted) : []),
  ];
  const hasAny = (one: DiagnosisFinding["verdict"]): boolean =>
    findings.some(({ verdict }) => verdict === one);
  const code = hasAny("wrong") ? 1 : wanted.live && hasAny("warning") ? UNREADY : 0;
  print(wanted.json ? JSON.stringify({ isWell: code === 0, findings }) : page(findings));
  return code;
}

/** The given options; a folder of `paystate dev` holds a file and a service. */
function databaseKind({ data, database }: DoctorOptions): "file" | "postgres" | null {
  if (database !== undefined && isPostgres(database)) return "postgres";
  return data === undefined && database === undefined ? null : "file";
}

function isServiceNamed({ data, service }: DoctorOptions): boolean {
  return data !== undefined || service !== undefined;
}

async function examineMachine(kind: ReturnType<typeof databaseKind>): Promise<readonly DiagnosisFinding[]> {
  const node = checkNode(process.versions.node, ownManifest().engines.node);
  return kind === "postgres" ? [node] : [node, await checkDriver(kind === "file")];
}

async function examineDatabase(wanted: DoctorOptions): Promise<readonly DiagnosisFinding[]> {
  return attempted("database", async () => {
    if (databaseKind(wanted) === "postgres" && isServiceNamed(wanted)) {
      return [fine("database", "what is in PostgreSQL is asked through the service alone")];
    }
    const file = databaseFile(
      wanted,
      "name your service with --service, and its database is asked through it",
    );
    return [...(await checkDatabase(file, integrityOf(wanted))), checkDisk(await readDiskSpace(file))];
  });
}

function integrityOf({ full }: DoctorOptions): Parameters<typeof checkDatabase>[1] {
  if (!full) return checkSamples;
  const bar = new ProgressBar(process.stdout);
  return (handle) => {
    const finding = checkPages(handle, (done, tables) => bar.show("of the tables", done / tables));
    bar.clear();
    return finding;
  };
}

async function examineService(wanted: DoctorOptions): Promise<readonly DiagnosisFinding[]> {
  return attempted("service", async () => {
    const { service, close } = await openService(wanted);
    try {
      return await findingsOf(service, wanted);
    } finally {
      await close();
    }
  });
}

async function findingsOf(
  { diagnose }: OperatorService,
  wanted: DoctorOptions,
): Promise<readonly DiagnosisFinding[]> {
  const { findings } = (await diagnose?.(queryOf(wanted))) ?? {};
  if (findings !== undefined) return findings;
  throw new Error(
    "this service has no `diagnose`: expected what createPaymentService of this version returns",
  );
}

/** With the folder where a master secret must not lie. */
function queryOf(wanted: DoctorOptions): DiagnosisQuery {
  if (!wanted.live) return {};
  const live = { database: databaseKind(wanted) };
  if (live.database !== "file") return { live };
  return { live, besides: dirname(resolve(databaseFile(wanted, "leave --database out"))) };
}

/** A check that cannot run is a finding itself, and the other checks still run. */
async function attempted(
  check: string,
  examine: () => Promise<readonly DiagnosisFinding[]>,
): Promise<readonly DiagnosisFinding[]> {
  try {
    return await examine();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    return [wrong(check, { found: "cannot be looked at", todo: (error as Error).message })];
  }
}

function page(findings: readonly DiagnosisFinding[]): string {
  const rows = findings.map(({ verdict, check, found, todo }) => [
    verdict,
    check,
    todo === null ? found : `${found}; ${todo}`,
  ]);
  const count = (wanted: string): number => findings.filter(({ verdict }) => verdict === wanted).length;
  return `${table(["verdict", "check", "found"], rows, "")}\n${count("wrong")} wrong, ${count("warning")} to look at.`;
}
