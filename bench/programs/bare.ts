/**
 * The ceiling: a Hono handler that reads the body, stores nothing and says 202.
 *
 * Usage: bare.ts <port>
 */
import { Hono } from "hono";

const app = new Hono();
app.post("/hook/bench", async (context) => {
  await context.req.arrayBuffer();
  return context.json({ status: "accepted" }, 202);
});
Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.args[0]), onListen() {} }, app.fetch);
