/** Modules of the host's, in JavaScript or TypeScript: what exports charts, or a service. */
import { existsSync } from "node:fs";
import Module from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { UsageError } from "./command.ts";

/**
 * The exports of a module; `wanted` is what they are looked through for.
 *
 * @throws Error with a sentence for a file that is missing or cannot be loaded, and `UsageError` for one in TypeScript
 *   where nothing runs that.
 */
export async function importOfHost(
  file: string,
  wanted: "charts" | "service",
): Promise<Readonly<Record<string, unknown>>> {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`there is no ${file}: name a module that exports your ${wanted}`);
  if (/\.[cm]?tsx?$/.test(path)) await prepareTypeScript(file);
  try {
    const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
    const { default: whole } = module;
    // Node 20 shows the exports of a module that was compiled to CommonJS only there.
    const isCompiled = typeof whole === "object" && whole !== null && "__esModule" in whole;
    return isCompiled ? { ...whole } : module;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be loaded: ${reason}`, { cause });
  }
}

/** tsx, which runs all of TypeScript, goes before Node, which only leaves out types. */
async function prepareTypeScript(file: string): Promise<void> {
  const tsx = installedTsx();
  if (tsx !== null) {
    // As `node --import tsx` does; imported again, it does nothing.
    await import(pathToFileURL(tsx).href);
    return;
  }
  if ("typescript" in process.features && process.features.typescript !== false) return;
  throw new UsageError(
    `${file} is TypeScript, which this Node runs with tsx: \`npm install --save-dev tsx\``,
  );
}

/** The tsx of the project where the command was called. */
function installedTsx(): string | null {
  try {
    return Module.createRequire(join(process.cwd(), "package.json")).resolve("tsx");
  } catch {
    return null;
  }
}
