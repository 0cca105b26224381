/** Endpoints of the API's own description. */
import { z } from "zod";
import { openEndpoint } from "../contract/endpoint.ts";

/** GET /v1/openapi.json. */
export const getOpenApi = openEndpoint({
  method: "GET",
  path: "/v1/openapi.json",
  operationId: "getOpenApi",
  tag: "Reference",
  scope: "none",
  limit: "documents",
  summary: "This document.",
  description: "It needs no key, and is limited per client address.",
  answer: {
    status: 200,
    mediaType: "application/json",
    schema: z.looseObject({ openapi: z.string().describe("The version of OpenAPI: 3.1.") }),
  },
  serve: (reference, base) => reference.document(base),
});

/** GET /v1/docs. */
export const getDocs = openEndpoint({
  method: "GET",
  path: "/v1/docs",
  operationId: "getDocs",
  tag: "Reference",
  scope: "none",
  limit: "documents",
  summary: "This document as a page to read.",
  description:
    "One page without scripts, which asks for nothing else. It needs no key, and is limited per client address.",
  answer: { status: 200, mediaType: "text/html", schema: z.string().describe("HTML in UTF-8.") },
  serve: (reference) => reference.page(),
});
