/** GET /v1/openapi.json. */
import { z } from "zod";
import { openEndpoint } from "../../contract/endpoint.ts";

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
