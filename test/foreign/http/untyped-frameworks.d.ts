/** The little that the tests need to know of frameworks that come without types. */

declare module "express4" {
  import express from "express";

  export default express;
}

declare module "koa" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export interface Context {
    readonly req: IncomingMessage;
    readonly res: ServerResponse;
    readonly request: { readonly rawBody?: string };
    respond: boolean;
  }
  export type Middleware = (context: Context, next: () => Promise<void>) => Promise<void>;
  export default class Koa {
    use(middleware: Middleware): void;
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}

declare module "@koa/bodyparser" {
  import type { Middleware } from "koa";

  export function bodyParser(): Middleware;
}
