/** Tests of webhooks: a service, a receiver and a caller of their own. */
// modules: webhooks
import { test } from "vitest";
import { opener } from "../../kit/opener.ts";
import { webhookWorld } from "./webhook-world.ts";

/** `world` is opened with the usual options, `open` takes others. The parts of the world have names of their own. */
export const webhookTest = test
  .extend("open", ({ onTestFinished }) => opener(webhookWorld, onTestFinished))
  .extend("world", ({ open }) => open())
  .extend("fixture", ({ world }) => world.fixture)
  .extend("service", ({ fixture }) => fixture.service)
  .extend("receiver", ({ world }) => world.receiver)
  .extend("customer", ({ world }) => world.caller)
  .extend("register", ({ world }) => world.register)
  .extend("sendOne", ({ world }) => world.sendOne)
  .extend("posts", ({ world }) => world.posts)
  .extend("eventsReceived", ({ world }) => world.eventsReceived);
