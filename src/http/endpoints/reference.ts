/** Endpoints of the API's own description. */
import { z } from "zod";
import { openEndpoint } from "../contract/endpoint.ts";
import { DOCS_PAGE, docsScript } from "../docs/docs-page.ts";

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

export const getDocs = openEndpoint({
  method: "GET",
  path: "/v1/docs",
  operationId: "getDocs",
  tag: "Reference",
  scope: "none",
  limit: "documents",
  summary: "This document as a page to read, to search and to try.",
  description:
    "An API key that is entered there stays in the page's memory and is sent to this server alone. The page needs no key, and is limited per client address.",
  answer: { status: 200, mediaType: "text/html", schema: z.string().describe("HTML in UTF-8.") },
  serve: () => DOCS_PAGE,
});

/** GET /v1/docs/explorer.js: what the page is drawn by, which is no operation of the API. */
export const getDocsScript = openEndpoint({
  method: "GET",
  path: "/v1/docs/explorer.js",
  operationId: "getDocsScript",
  tag: "Reference",
  scope: "none",
  limit: "documents",
  summary: "The script of the page.",
  answer: { status: 200, mediaType: "text/javascript", schema: z.string() },
  serve: docsScript,
});
