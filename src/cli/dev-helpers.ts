/** `/_dev`: HTTP helpers of `paystate dev` for a developer, served beside the API by this command only. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { readBody, parseJson } from "../http/read-contents.ts";
import { nodeListener } from "../http/node-listener.ts";
import {
  isFromHere,
  isOfAnotherSite,
  isUnderOwnName,
  type ViewerRequest,
} from "../inspector/admit-viewer.ts";
import { isPaymentError } from "../errors/errors.ts";
import { ActRefused, DEV_ACTS, type DevContext } from "./dev-acts.ts";

/** The path of the helpers, below the base URL. */
export const DEV_HELPERS_PATH = "/_dev";

type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The handler of the API with the helpers beside it. They answer this machine alone. */
export function withDevHelpers(world: DevContext, api: NodeListener): NodeListener {
  const helpers = nodeListener(
    (request, { peer, httpVersion }) => answer(world, { request, peer, httpVersion }),
    () => refusal(400, "the path or the Host header cannot be read"),
  );
  return (request, response) => {
    const isForHelpers = /^\/_dev(?:[/?]|$)/.test(request.url ?? "");
    return isForHelpers ? helpers(request, response) : api(request, response);
  };
}

async function answer(world: DevContext, viewer: ViewerRequest): Promise<Response> {
  const { request } = viewer;
  if (isOfAnotherSite(request) || !isUnderOwnName(request) || !isFromHere(viewer)) {
    return refusal(403, "only programs of this machine are answered, under a name such as 127.0.0.1");
  }
  const name = new URL(request.url).pathname.slice(DEV_HELPERS_PATH.length + 1);
  const act = DEV_ACTS.get(name);
  if (act === undefined) {
    const known = [...DEV_ACTS.keys()].map((each) => `${DEV_HELPERS_PATH}/${each}`);
    return refusal(404, `expected ${known.join(", ")}`);
  }
  if (request.method !== "POST") return refusal(405, "expected POST", { allow: "POST" });
  try {
    return Response.json(await act(world, parseJson(await readBody(request))));
  } catch (error) {
    return failure(error);
  }
}

function failure(error: unknown): Response {
  if (error instanceof z.ZodError) {
    const problems = error.issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
    return refusal(400, problems.join("; "));
  }
  if (error instanceof ActRefused) return refusal(409, error.message);
  if (isPaymentError(error, "VALIDATION_ERROR")) return refusal(400, "expected a JSON object");
  // Nothing of a development is hidden from its developer.
  return refusal(500, String(error));
}

function refusal(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ error }, { status, headers });
}
