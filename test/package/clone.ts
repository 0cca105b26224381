/** What somebody has who clones the repository: its files, and nothing that was installed or made. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "../readme/page.ts";
import type { Runtime } from "./runtimes.ts";

/** Copies what git knows or would add, as it stands now, into a folder. */
export function cloneInto(folder: string): void {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 26 });
  for (const path of stdout.split("\0").filter((each) => each !== "" && existsSync(join(ROOT, each)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(ROOT, path), join(folder, path));
  }
}

/** Runs npm in a folder on a Node, to its end. Rejects with all that was written when it does not end well. */
export async function npmOn({ command }: Runtime, folder: string, ...args: readonly string[]): Promise<void> {
  const PATH = `${dirname(command)}:${process.env["PATH"] ?? ""}`;
  const child = spawn("npm", args, { cwd: folder, env: { ...process.env, PATH }, stdio: "pipe" });
  child.stdin.end();
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`npm ${args.join(" ")} ended with ${code}\n${said}`);
}
