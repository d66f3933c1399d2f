# Two stages; runs without root and without the embedded PostgreSQL, so it needs DATABASE_URL.
FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1 AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No install scripts: the image brings Node. With optional packages: they include the compilers.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY dashboard dashboard
RUN npm run build && npm prune --omit=dev --omit=optional

FROM node:26.10.0-slim@sha256:ec7758ee051e457b468b32bde57b0879010b325bb9862718e9615225ce4aaae1
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY --from=build /build/package.json ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY docs/openapi.json docs/
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4000/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Neither a shell nor npm in between, so that SIGTERM reaches the program.
ENTRYPOINT ["node", "dist/main.js"]
CMD ["start"]
