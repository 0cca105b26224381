/** Makes clients of an OpenAPI document with other people's generators, and checks programs that use them. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { ROOT } from "../../readme/page.ts";
import { startProgram } from "../../readme/programs.ts";

/** The document as it was answered. */
export type AnsweredDocument = Readonly<Record<string, unknown>>;

/** What a generator makes, in the folder `generated` beside the tour that goes by its name. */
type Generate = (document: AnsweredDocument, folder: string) => Promise<void>;

/** By the names of their tours. */
export const GENERATORS: Readonly<Record<string, Generate>> = {
  "openapi-fetch": async (document, folder) => {
    const nodes = await openapiTS(JSON.stringify(document));
    writeFileSync(join(folder, "paths.ts"), astToString(nodes));
  },
};

/** Generates the client of this name and brings its tour, all below `folder`; returns the path of the tour. */
export async function generateClient(
  name: string,
  document: AnsweredDocument,
  folder: string,
): Promise<string> {
  const generate = GENERATORS[name];
  if (generate === undefined) throw new Error(`there is no generator "${name}"`);
  const generated = join(folder, name, "generated");
  mkdirSync(generated, { recursive: true });
  await generate(document, generated);
  const here = join(ROOT, "test/foreign/generated-clients");
  const tour = join(folder, name, "tour.ts");
  cpSync(join(here, "tours", `${name}.ts`), tour);
  cpSync(join(here, "tour-scene.ts"), join(folder, "tour-scene.ts"));
  return tour;
}

// Strict, with the types of the web that generated clients need. Generated code does not all keep exactOptionalPropertyTypes.
const COMPILER_OPTIONS = {
  module: "nodenext",
  target: "es2022",
  lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
  noEmit: true,
};

/** What the compiler says of these programs and all that they import; empty where nothing is wrong. */
export async function compilerErrors(folder: string, programs: readonly string[]): Promise<string> {
  const project = { compilerOptions: COMPILER_OPTIONS, files: programs };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const compiler = startProgram(process.execPath, [tsc, "-p", folder], { cwd: folder });
  await compiler.ended;
  return compiler.output();
}
