/** What the surroundings tell the service: its environment variables, and the files that they name. */
import { readFileSync } from "node:fs";
import type { SolanaLedgerOptions } from "paystate/solana";

/** The variable of this name. Throws where it is missing: a default would hide a mistake until there is money. */
function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is missing: see examples/deploy/README.md`);
  }
  return value;
}

/** The variable of this name; null where it is not set. */
function given(name: string): string | null {
  const value = process.env[name] ?? "";
  return value === "" ? null : value;
}

/** The variables of these names; null where none of them is set. Throws where only some are. */
function together<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> | null {
  if (names.every((name) => given(name) === null)) return null;
  return Object.fromEntries(names.map((name) => [name, needed(name)])) as Record<Name, string>;
}

/** 32 bytes in hexadecimal. A file, since variables are seen by more programs. */
function masterSecret(file: string): Uint8Array {
  const text = readFileSync(file, "utf8").trim();
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(`${file}: expected 64 hexadecimal digits, as openssl rand -hex 32 prints them`);
  }
  return Buffer.from(text, "hex");
}

/** The secret key of a file that `solana-keygen` has written: 64 numbers. */
function secretKey(file: string): Uint8Array {
  const key: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(key) || key.length !== 64) {
    throw new Error(`${file}: expected a list of 64 numbers, as solana-keygen writes it`);
  }
  return Uint8Array.from(key as readonly number[]);
}

/** A list in JSON. A file, since URLs of endpoints hold keys. `solanaLedger` checks what is in it. */
function endpoints(file: string): SolanaLedgerOptions["endpoints"] {
  const list: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (!Array.isArray(list)) throw new Error(`${file}: expected a list of endpoints, as the README shows it`);
  return list as SolanaLedgerOptions["endpoints"];
}

/** How many people it takes to send held money elsewhere. */
function approvals(text: string): 1 | 2 {
  if (text !== "1" && text !== "2") throw new Error(`APPROVALS ${text}: expected 1 or 2`);
  return text === "1" ? 1 : 2;
}

const mints = together("USDC_MINT", "USDT_MINT");
const privateMode = together("SPONSOR_KEY_FILE", "TREASURY", "DOLLARS_PER_SOL");

export const settings = {
  /** Two or more, of different providers. */
  endpoints: endpoints(needed("ENDPOINTS_FILE")),
  masterSecret: masterSecret(needed("MASTER_SECRET_FILE")),
  database: needed("DATABASE"),
  host: needed("HOST"),
  port: Number(needed("PORT")),
  /** Null: no metrics. */
  metricsPort: given("METRICS_PORT") === null ? null : Number(given("METRICS_PORT")),
  approvals: approvals(given("APPROVALS") ?? "2"),
  /** A file on another disk than the database; null: nothing is written down. */
  recoveryFile: given("RECOVERY_FILE"),
  /** A file with an address a line that private mode serves not; null: it serves everybody. */
  refusedFile: given("REFUSED_FILE"),
  /** Those of another chain than mainnet. */
  stablecoins: mints && { USDC: mints.USDC_MINT, USDT: mints.USDT_MINT },
  /** Null: there is no private mode. */
  privateMode: privateMode && {
    sponsorKey: secretKey(privateMode.SPONSOR_KEY_FILE),
    treasury: privateMode.TREASURY,
    dollarsPerSol: Number(privateMode.DOLLARS_PER_SOL),
  },
  logLevel: given("LOG_LEVEL") ?? "info",
};
