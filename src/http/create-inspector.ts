/** The inspector alone, for an engine without payments: its pages behind `fetch` and `node:http`. */
import { z } from "zod";
import type { InspectedEngine } from "../engine/create-engine.ts";
import type { InspectedStorage } from "../engine/inspected-engine.ts";
import type { Engine } from "../engine/index.ts";
import type { AnyWorkflow } from "../workflow/workflow.ts";
import type { Authorize } from "../inspector/admit-viewer.ts";
import { Inspector, type InspectorParts } from "../inspector/inspector.ts";
import { checkOptions, functionOption, objectWith, runtimeOptions } from "../core/options.ts";
import { systemClock, type Clock, type Logger } from "../core/runtime.ts";
import type { HttpHandler } from "./create-http-handler.ts";
import { inspectorAnswer } from "./inspector-answer.ts";
import { NO_CONNECTION, nodeListener, type Connection } from "./node-listener.ts";

/** Access options of an inspector, for either source. */
export interface InspectorAccessOptions {
  /**
   * Decides who may look. Default: programs and people on this machine, which is for development: anyone who can open a
   * connection from this machine sees every instance. An error refuses.
   */
  readonly authorize?: Authorize;
  /** The engine's clock, for what is counted down to. Default: the machine's own. */
  readonly clock?: Clock;
  /** Told why a page could not be made. Default: silent. */
  readonly logger?: Logger;
}

/** An inspector of a running engine. */
export interface InspectedEngineOptions extends InspectorAccessOptions {
  /** The result of `createEngine`. */
  readonly engine: Pick<Engine<never>, "inspected">;
  /**
   * Versions that instances were migrated from, by which their steps of before are shown. Default: none, and the steps
   * are shown as they are recorded, without their contexts.
   */
  readonly workflows?: readonly AnyWorkflow[];
  /**
   * Whether who may look may also act: send an event, have a task tried again or dropped, stop an instance, pause, resume or trigger a schedule. Each act is
   * confirmed by hand and is a line of the engine's log, with who acted and why. Default false.
   */
  readonly acts?: boolean;
}

/** Options of an inspector of a storage, beside the processes that work on the storage. */
export interface InspectedStorageOptions extends InspectorAccessOptions {
  /** The storage of the engine. It is only read. */
  readonly storage: InspectedStorage;
  /** The workflows whose charts are drawn; what is stored of others is shown without a drawing. */
  readonly workflows: readonly AnyWorkflow[];
}

/** Options of `createInspector`: a running engine, or a storage with the charts of what is in it. */
export type InspectorOptions = InspectedEngineOptions | InspectedStorageOptions;

const optionsSchema = z
  .strictObject({
    engine: objectWith<Pick<Engine<never>, "inspected">>(
      ["start", "send", "read"],
      "an engine: createEngine({ … })",
    ).optional(),
    storage: objectWith<InspectedStorage>(
      ["load", "history", "list"],
      "a storage, such as await sqliteStorage(path)",
    ).optional(),
    workflows: z
      .array(
        z.custom<AnyWorkflow>((value) => typeof (value as AnyWorkflow | null)?.chart?.step === "function", {
          error: "expected what workflow() returns",
        }),
      )
      .optional(),
    authorize: functionOption<Authorize>().optional(),
    acts: z.boolean().optional(),
    clock: runtimeOptions.clock,
    logger: runtimeOptions.logger,
  })
  .check((context) => {
    const { engine, storage, workflows } = context.value;
    const isWhole =
      engine === undefined ? storage !== undefined && workflows !== undefined : storage === undefined;
    if (!isWhole) {
      context.issues.push({
        code: "custom",
        input: context.value,
        path: [],
        message: "expected { engine, workflows? }, or { storage, workflows }",
      });
    }
  });

/**
 * Builds a handler for everything under `/_inspector`, wherever it is mounted: live pages of every registered chart and
 * every stored instance. Pages are read-only, unless viewers of an engine may act. Throws `InvalidOptions` listing
 * every problem.
 *
 * @example
 * ```ts
 * import { createInspector } from "paystate/inspector";
 * import { workflow } from "paystate/engine";
 * import { sqliteStorage } from "paystate/storage/sqlite";
 * import { createMachine } from "xstate";
 *
 * const light = createMachine({ id: "light", initial: "off", states: { off: { on: { SWITCH: "on" } }, on: {} } });
 * const inspector = createInspector({ storage: await sqliteStorage(":memory:"), workflows: [workflow(light)({ version: 1 })] });
 * const page = await inspector.fetch(new Request("http://127.0.0.1:3000/_inspector"));
 * console.log(page.status); // 200
 * ```
 */
export function createInspector(options: InspectorOptions): HttpHandler {
  const checked = checkOptions("createInspector", optionsSchema, options);
  const { engine, storage, workflows = [], authorize = null, acts = false, clock, logger: log } = checked;
  const stored = (): InspectedEngine | null =>
    storage === undefined ? null : { storage, workflows: [], isProduction: () => false };
  const inspected = engine?.inspected ?? stored();
  if (inspected === null) throw new TypeError("expected { engine }, or { storage, workflows }");
  const charts = [...workflows, ...inspected.workflows];
  return inspectorHandler({
    inspected: { ...inspected, workflows: charts },
    authorize,
    acts,
    clock,
    pace: systemClock,
    log,
  });
}

/** The handler of an inspector that stands alone. */
export function inspectorHandler(parts: InspectorParts): HttpHandler {
  const inspector = new Inspector(parts);
  const fetch = (request: Request, connection: Connection): Promise<Response> =>
    inspectorAnswer(inspector, request, connection);
  return {
    fetch: (request) => fetch(request, NO_CONNECTION),
    node: nodeListener(
      fetch,
      () => new Response("The path or the Host header cannot be read.\n", { status: 400 }),
    ),
  };
}
