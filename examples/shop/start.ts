/**
 * The shop with all that it needs: `npx tsx examples/shop/start.ts [folder]` starts `paystate dev`, `paystate listen` and
 * the shop, each in a process of its own. README.md beside this file starts them one by one. Ctrl-C ends all three.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "shop-"));
const port = process.env["PORT"] ?? "3000";
const children: ChildProcess[] = [];

/** Starts a program of this repository, and resolves with the first match in its output, which is shown where told. */
function start(
  program: string,
  { args, env = {}, until }: { args: readonly string[]; env?: Record<string, string>; until: RegExp },
): Promise<string> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) console.log(line);
      const [, found] = until.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`${program} ${args[0] ?? ""} has ended`)));
  });
}

function end(): void {
  for (const child of children) child.kill("SIGTERM");
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, end);

const data = ["--data", join(folder, "payments")];
const anyPorts = ["--port", "0", "--rpc-port", "0"];
const line = await start("src/cli/main.ts", {
  args: ["dev", "--json", "--slot-ms", "100", ...anyPorts, ...data],
  until: /^(\{.*)$/,
});
const dev = JSON.parse(line) as {
  readonly baseUrl: string;
  readonly inspectorUrl: string;
  readonly apiKeys: { readonly free: string };
  readonly wallets: readonly [customer: { secretKey: string }, shop: { secretKey: string }];
};
const secret = await start("src/cli/main.ts", {
  args: ["listen", "--forward-to", `http://127.0.0.1:${port}/webhook`, "--port", "0", ...data],
  until: /signed with the secret (\S+)/,
});
const env = {
  PAYMENTS_URL: dev.baseUrl,
  API_KEY: dev.apiKeys.free,
  WEBHOOK_SECRET: secret,
  SHOP_SECRET_KEY: dev.wallets[1].secretKey,
  PRACTICE_SECRET_KEY: dev.wallets[0].secretKey,
  STAFF_KEY: process.env["STAFF_KEY"] ?? randomUUID(),
};
await start("examples/shop/main.ts", { args: [join(folder, "orders.db")], env, until: /(is open)/ });
console.log(
  `payments: ${dev.inspectorUrl}, key ${env.API_KEY}; the staff's key: ${env.STAFF_KEY}; data: ${folder}`,
);
