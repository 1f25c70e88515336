FROM denoland/deno:2.9.6

WORKDIR /app
RUN mkdir /data && chown deno:deno /app /data
USER deno

COPY --chown=deno:deno deno.json deno.lock main.ts cli.ts ./
COPY --chown=deno:deno lib lib
COPY --chown=deno:deno routes routes
COPY --chown=deno:deno islands islands
COPY --chown=deno:deno static static
COPY --chown=deno:deno docs docs
RUN deno install --frozen --entrypoint main.ts islands/main.tsx && deno task build

ENV KV_PATH=/data/holdfast.db
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["deno", "eval", "const r = await fetch(`http://127.0.0.1:${Deno.env.get('PORT') ?? 8000}/readyz`); Deno.exit(r.ok ? 0 : 1)"]

# The program takes SIGTERM itself and ends within 5 s, so it is the first process.
ENTRYPOINT ["deno", "run", "--no-prompt", "--allow-net", "--allow-env", "--allow-read", "--allow-write", "--allow-sys", "dist/main.js"]
