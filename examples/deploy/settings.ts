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

/** 32 bytes in hexadecimal. A file, since variables are seen by more programs. */
function masterSecret(file: string): Uint8Array {
  const text = readFileSync(file, "utf8").trim();
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new Error(`${file}: expected 64 hexadecimal digits, as openssl rand -hex 32 prints them`);
  }
  return Buffer.from(text, "hex");
}

export const settings = {
  /** Two or more, of different providers, with a comma between. */
  rpcUrls: needed("RPC_URLS").split(","),
  masterSecret: masterSecret(needed("MASTER_SECRET_FILE")),
  database: needed("DATABASE"),
  host: needed("HOST"),
  port: Number(needed("PORT")),
  logLevel: process.env["LOG_LEVEL"] ?? "info",
};
