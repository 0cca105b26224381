/** Charts out of a module of the host's: what `workflow()` returns, or machines of XState. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { AnyStateMachine } from "xstate";
import type { AnyWorkflow } from "../engine/index.ts";

/** The exports of a module, and the items of exported lists. */
async function exportsOf(file: string): Promise<unknown[]> {
  const path = resolve(file);
  if (!existsSync(path)) throw new Error(`there is no ${file}: name a module that exports your charts`);
  try {
    const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
    return [
      ...new Set(
        Object.values(module).flatMap((each): unknown[] =>
          Array.isArray(each) ? (each as unknown[]) : [each],
        ),
      ),
    ];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${file} cannot be loaded: ${reason}`, { cause });
  }
}

/** The workflows of a module. @throws Error with a sentence for a module without workflows. */
export async function workflowsIn(file: string): Promise<AnyWorkflow[]> {
  const workflows = (await exportsOf(file)).filter(isWorkflow);
  if (workflows.length > 0) return workflows;
  throw new Error(`${file} exports no workflow: expected what workflow() returns, or a list of these`);
}

/**
 * The machines of a module, including the machines of its workflows. @throws Error with a sentence for a module without
 * machines.
 */
export async function machinesIn(file: string): Promise<AnyStateMachine[]> {
  const found = (await exportsOf(file)).flatMap((each) =>
    isWorkflow(each) ? [each.machine] : isMachine(each) ? [each] : [],
  );
  if (found.length > 0) return [...new Set(found)];
  throw new Error(`${file} exports no chart: expected machines of XState, or what workflow() returns`);
}

function isWorkflow(value: unknown): value is AnyWorkflow {
  return typeof (value as AnyWorkflow | null)?.chart?.step === "function";
}

function isMachine(value: unknown): value is AnyStateMachine {
  const { root, getInitialSnapshot } = (value ?? {}) as Partial<AnyStateMachine>;
  return typeof getInitialSnapshot === "function" && root !== undefined;
}
