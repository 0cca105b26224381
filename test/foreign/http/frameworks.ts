/** The handler inside the frameworks that people use, each in the way that the page recommends and in a wrong one. */
import { serve } from "@hono/node-server";
import { bodyParser } from "@koa/bodyparser";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express as ExpressApp, type RequestHandler } from "express";
import express4 from "express4";
import fastify, { type FastifyInstance } from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import type { HttpHandler } from "../../../src/http/create-http-handler.ts";
import { listening } from "../../http/ways.ts";

/** A server that listens on loopback. */
export interface Mounted {
  /** Where the endpoints stand, without /v1. */
  readonly base: string;
  close(): Promise<void>;
}

/** One way of mounting the handler. */
export interface Mounting {
  readonly name: string;
  mount(handler: HttpHandler): Promise<Mounted>;
}

/** Ways in which every request is answered. */
export const MOUNTINGS: readonly Mounting[] = [
  { name: "Express 4", mount: async (handler) => onExpress(express4(), handler) },
  { name: "Express 5", mount: async (handler) => onExpress(express(), handler) },
  {
    name: "Express 4 behind its JSON parser",
    mount: async (handler) => onExpress(parsing(express4(), express4.json()), handler),
  },
  {
    name: "Express 5 behind its JSON parser",
    mount: async (handler) => onExpress(parsing(express(), express.json()), handler),
  },
  { name: "Fastify", mount: onFastify },
  { name: "Koa", mount: async (handler) => onKoa(new Koa(), handler) },
  { name: "Koa behind a body parser", mount: onParsingKoa },
  { name: "NestJS", mount: onNest },
  { name: "Hono", mount: onHono },
  { name: "Next route handlers", mount: asNextRoutes },
];

/** Ways in which a body is read before the handler and left nowhere. */
export const WRONG_MOUNTINGS: readonly Mounting[] = [
  {
    name: "Express behind a reader that keeps nothing",
    mount: async (handler) => onExpress(parsing(express(), readAndForget), handler),
  },
  {
    name: "Fastify with its own parser",
    async mount(handler) {
      const app = fastify();
      app.all("/v1/*", (request, reply) => {
        reply.hijack();
        return handler.node(request.raw, reply.raw);
      });
      return listeningFastify(app);
    },
  },
  {
    name: "Koa behind a body parser that is not named",
    async mount(handler) {
      const app = new Koa();
      app.use(bodyParser());
      return onKoa(app, handler);
    },
  },
  {
    name: "Hono behind a middleware that reads",
    async mount(handler) {
      const app = new Hono();
      app.use(async ({ req }, next) => {
        await req.text();
        await next();
      });
      app.all("/v1/*", ({ req }) => handler.fetch(req.raw));
      return listeningFetch(app.fetch);
    },
  },
];

function parsing(app: ExpressApp, parser: RequestHandler): ExpressApp {
  app.use(parser);
  return app;
}

function readAndForget(request: IncomingMessage, _: ServerResponse, next: () => void): void {
  request.once("end", next);
  request.resume();
}

async function onExpress(app: ExpressApp, handler: HttpHandler): Promise<Mounted> {
  app.use("/api", handler.node);
  const server = app.listen(0, "127.0.0.1", () => {});
  await once(server, "listening");
  return { base: `${originOf(server)}/api`, close: async () => closed(server) };
}

async function onFastify(handler: HttpHandler): Promise<Mounted> {
  const app = fastify();
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_request, _payload, done) => done(null));
    scope.all("/v1/*", (request, reply) => {
      reply.hijack();
      return handler.node(request.raw, reply.raw);
    });
  });
  return listeningFastify(app);
}

async function listeningFastify(app: FastifyInstance): Promise<Mounted> {
  const base = await app.listen({ port: 0, host: "127.0.0.1" });
  return { base, close: () => app.close() };
}

async function onKoa(app: Koa, handler: HttpHandler): Promise<Mounted> {
  app.use(async (context) => {
    context.respond = false;
    await handler.node(context.req, context.res);
  });
  const { origin, close } = await listening(app.callback());
  return { base: origin, close };
}

async function onParsingKoa(handler: HttpHandler): Promise<Mounted> {
  const app = new Koa();
  app.use(bodyParser());
  app.use(async (context, next) => {
    Object.assign(context.req, { rawBody: context.request.rawBody });
    await next();
  });
  return onKoa(app, handler);
}

async function onNest(handler: HttpHandler): Promise<Mounted> {
  class AppModule {
    readonly serves = "payments";
  }
  Module({})(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  app.use("/api", handler.node);
  await app.listen(0, "127.0.0.1");
  return { base: `${originOf(app.getHttpServer() as Server)}/api`, close: () => app.close() };
}

async function onHono(handler: HttpHandler): Promise<Mounted> {
  const app = new Hono();
  app.all("/v1/*", ({ req }) => handler.fetch(req.raw));
  return listeningFetch(app.fetch);
}

/** Next calls the function that a route file exports under the request's method, with a `Request`. */
async function asNextRoutes({ fetch }: HttpHandler): Promise<Mounted> {
  const route: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    GET: fetch,
    POST: fetch,
  };
  return listeningFetch(
    async (request) => route[request.method]?.(request) ?? new Response(null, { status: 405 }),
  );
}

async function listeningFetch(fetch: (request: Request) => Response | Promise<Response>): Promise<Mounted> {
  const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }) as Server;
  await once(server, "listening");
  return { base: originOf(server), close: async () => closed(server) };
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
}
