/** Charts out of a module of the host's: what `workflow()` returns, or machines of XState. */
import type { AnyStateMachine } from "xstate";
import type { AnyWorkflow } from "../engine/index.ts";
import { importOfHost } from "./host-module.ts";

/** The exports of a module, and the items of exported lists. */
async function exportsOf(file: string): Promise<unknown[]> {
  const exported = Object.values(await importOfHost(file, "charts"));
  return [
    ...new Set(exported.flatMap((each): unknown[] => (Array.isArray(each) ? (each as unknown[]) : [each]))),
  ];
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
