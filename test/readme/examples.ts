/** The examples in the docstrings of what the package exports, for the tests that compile and run them. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ts from "typescript";
import { ROOT } from "./page.ts";

/** A value that an entry of the package exports. */
export interface ExportedValue {
  readonly name: string;
  /** Such as `paystate/engine`. */
  readonly entry: string;
  readonly kind: "function" | "class" | "constant";
  readonly examples: readonly Example[];
}

/** A program in a docstring. */
export interface Example {
  readonly code: string;
  /** Why it can only be compiled: the fence is "ts no-run: " with the reason. Null for one that is run. */
  readonly notRunBecause: string | null;
}

type Declaration = ts.FunctionDeclaration | ts.ClassDeclaration | ts.VariableStatement;

const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, "tsconfig.json"), "utf8")) as {
  readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly [string]>> };
};

/** Every value of every entry; one that two entries export is listed with both. */
export function exportedValues(): readonly ExportedValue[] {
  return Object.entries(compilerOptions.paths).flatMap(([entry, [path]]) => {
    const file = join(ROOT, path);
    return [...declarationsIn(file)].map(([name, declaration]) => ({
      name,
      entry,
      kind: kindOf(declaration),
      examples: examplesOf(declaration),
    }));
  });
}

/** What a file exports besides types, by name, wherever it is declared. */
function declarationsIn(file: string): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement)) {
      for (const [name, declaration] of passedOn(statement, file)) found.set(name, declaration);
    } else if (isExported(statement)) {
      for (const name of namesOf(statement)) found.set(name, statement);
    }
  }
  return found;
}

/** What `export { … } from "…"` passes on. */
function passedOn(
  { isTypeOnly, exportClause, moduleSpecifier }: ts.ExportDeclaration,
  file: string,
): readonly (readonly [string, Declaration])[] {
  if (isTypeOnly) return [];
  const isListed = exportClause !== undefined && ts.isNamedExports(exportClause);
  if (!isListed || moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) {
    throw new Error(`${file}: expected every export as { names } from "a file"`);
  }
  const values = exportClause.elements.filter((element) => !element.isTypeOnly);
  if (values.length === 0) return [];
  const declarations = declarationsIn(join(dirname(file), moduleSpecifier.text));
  return values.map(({ name, propertyName = name }) => {
    const declaration = declarations.get(propertyName.text);
    if (declaration === undefined) throw new Error(`${file}: cannot find where ${name.text} is declared`);
    return [name.text, declaration];
  });
}

function isExported(statement: ts.Statement): statement is Declaration {
  if (!ts.isFunctionDeclaration(statement) && !ts.isClassDeclaration(statement)) {
    if (!ts.isVariableStatement(statement)) return false;
  }
  return statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function namesOf(declaration: Declaration): readonly string[] {
  if (!ts.isVariableStatement(declaration)) return [declaration.name?.text ?? ""];
  return declaration.declarationList.declarations.map(({ name }) => name.getText());
}

function kindOf(declaration: Declaration): ExportedValue["kind"] {
  if (ts.isFunctionDeclaration(declaration)) return "function";
  if (ts.isClassDeclaration(declaration)) return "class";
  const [initializer] = declaration.declarationList.declarations.map((each) => each.initializer);
  const isFunction =
    initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
  return isFunction ? "function" : "constant";
}

function examplesOf(declaration: Declaration): readonly Example[] {
  const docstring = ts.getJSDocCommentsAndTags(declaration).find(ts.isJSDoc)?.getText() ?? "";
  const text = docstring.replaceAll(/^ *\*(?: |\/?$)/gm, "");
  return [...text.matchAll(/^@example\n```ts(?: no-run: (.+))?\n([\s\S]*?)^```$/gm)].map(
    ([, reason = null, code = ""]) => ({ code, notRunBecause: reason }),
  );
}
