/** What the surroundings tell the service: its environment variables, and the file of its master secret. */
import { readFileSync } from "node:fs";

/** The variable of this name. Throws where it is missing: a default would hide a mistake until there is money. */
function needed(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is missing: see examples/deploy/README.md`);
  }
  return value;
}

/** The variables of these names; null where none of them is set. Throws where only some are. */
function together<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> | null {
  if (names.every((name) => (process.env[name] ?? "") === "")) return null;
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

const mints = together("USDC_MINT", "USDT_MINT");
const privateMode = together("SPONSOR_KEY_FILE", "TREASURY", "DOLLARS_PER_SOL");

export const settings = {
  /** Two or more, of different providers, with a comma between. */
  rpcUrls: needed("RPC_URLS").split(","),
  masterSecret: masterSecret(needed("MASTER_SECRET_FILE")),
  database: needed("DATABASE"),
  host: needed("HOST"),
  port: Number(needed("PORT")),
  /** Those of another chain than mainnet. */
  stablecoins: mints && { USDC: mints.USDC_MINT, USDT: mints.USDT_MINT },
  /** Null: there is no private mode. */
  privateMode: privateMode && {
    sponsorKey: secretKey(privateMode.SPONSOR_KEY_FILE),
    treasury: privateMode.TREASURY,
    dollarsPerSol: Number(privateMode.DOLLARS_PER_SOL),
  },
  logLevel: process.env["LOG_LEVEL"] ?? "info",
};
