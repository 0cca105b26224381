/** The programs that tests start as processes of their own. */
import { join } from "node:path";

/** By name, where each begins, from the project's root. */
export const PROGRAMS = {
  paystate: "src/cli/main.ts",
  "first-question": "test/solana/processes/first-question.ts",
  "host-runner": "test/engine/processes/host-runner.ts",
  "transfer-runner": "test/engine/processes/transfer-runner.ts",
  "versions-runner": "test/engine/processes/versions-runner.ts",
  "full-disk": "test/storage/processes/full-disk.ts",
  writer: "test/storage/processes/writer.ts",
  "chain-process": "test/local/chain-process.ts",
  chain: "test/payments/processes/chain.ts",
  service: "test/payments/processes/service.ts",
  "chaos-chain": "test/chaos/processes/chain.ts",
  "chaos-service": "test/chaos/processes/service.ts",
} as const;

/** The variable that tells the tests' processes where the compiled programs are. */
export const PROGRAMS_FOLDER = "PAYSTATE_TEST_PROGRAMS";

/** The arguments with which Node runs a program. Errors show where they come from in the sources. */
export function program(name: keyof typeof PROGRAMS): readonly string[] {
  const folder = process.env[PROGRAMS_FOLDER];
  if (folder === undefined) throw new Error("programs are compiled before the first test: run npm test");
  return ["--enable-source-maps", join(folder, `${name}.js`)];
}
