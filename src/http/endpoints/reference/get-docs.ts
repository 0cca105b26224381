/** GET /v1/docs. */
import { z } from "zod";
import { openEndpoint } from "../../contract/endpoint.ts";

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
