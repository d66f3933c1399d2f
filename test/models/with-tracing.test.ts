import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { scriptedModels } from '../../harness/models.ts';
import { emptySetup } from '../../harness/setups.ts';
import { toId, uuid7 } from '../../src/core/id.ts';
import { collectResponse } from '../../src/core/model/model-events.ts';
import { type ModelCall, ModelFailure, type ModelPort } from '../../src/core/model/model-port.ts';
import { withTracing } from '../../src/models/with-tracing.ts';

/** A collector that records OTLP as JSON over HTTP. */
const received: { path: string; headers: IncomingHttpHeaders; text: string }[] = [];
const collector = createServer(async (request, response) => {
  const { url = '', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  received.push({ path: url, headers, text: Buffer.concat(chunks).toString() });
  response.writeHead(url.startsWith('/refusing') ? 403 : 200, {
    'content-type': 'application/json',
  });
  response.end('{}');
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
after(() => collector.close());

const executionId = uuid7(0);
const call: ModelCall = {
  ...{ executionId, workspaceId: uuid7(0), model: 'google/gemini-pro', timeoutMs: 1_000 },
  called: false,
  ...{ system: 'canary-system', user: 'canary-user', temperature: 0.5, maxTokens: 100, topP: null },
  ...{ setup: emptySetup, signal: new AbortController().signal },
};

test('each call has a span with usage and outcome, but no content', async () => {
  const models = scriptedModels();
  const usage = { inputTokens: 30, outputTokens: 4, cacheReadTokens: 20, cacheWriteTokens: 0 };
  models.script(
    { text: 'canary-answer', usage, finishReason: 'length' },
    new ModelFailure('PROVIDER_ERROR', 'canary-error'),
    new ModelFailure('CONTENT_FILTERED', 'canary-filtered', { usage }),
  );
  const spans = await spansOf(models, async (port) => {
    assert.equal((await collectResponse(port, call)).text, 'canary-answer');
    const failed = collectResponse(port, { ...call, model: 'acme/a/b' });
    await assert.rejects(failed, { message: 'canary-error' });
    await assert.rejects(collectResponse(port, call), { code: 'CONTENT_FILTERED' });
  });
  const requestAttributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'gcp.gemini',
    'gen_ai.request.model': 'gemini-pro',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.max_tokens': 100,
    'cueline.execution.id': toId('execution', executionId),
  };
  const usageAttributes = {
    'gen_ai.usage.input_tokens': 30,
    'gen_ai.usage.output_tokens': 4,
    'gen_ai.usage.cache_read.input_tokens': 20,
  };
  const client = 3;
  const error = { code: 2 };
  assert.deepEqual(spans, [
    {
      ...{ name: 'chat gemini-pro', kind: client, status: { code: 0 } },
      attributes: {
        ...requestAttributes,
        ...usageAttributes,
        'gen_ai.response.finish_reasons': ['length'],
      },
    },
    {
      ...{ name: 'chat a/b', kind: client, status: error },
      attributes: {
        ...requestAttributes,
        ...{ 'gen_ai.provider.name': 'acme', 'gen_ai.request.model': 'a/b' },
        'error.type': 'PROVIDER_ERROR',
      },
    },
    {
      ...{ name: 'chat gemini-pro', kind: client, status: error },
      attributes: { ...requestAttributes, ...usageAttributes, 'error.type': 'CONTENT_FILTERED' },
    },
  ]);
});

test('a failed export is reported and affects neither calls nor shutdown', async () => {
  const errors: unknown[] = [];
  const port = await withTracing(scriptedModels(), {
    ...{ endpoint: `${endpoint}/refusing/`, serviceName: 'cueline', serviceVersion: '1.2.3' },
    onError: (error) => errors.push(error),
  });
  assert.equal((await collectResponse(port, call)).text, 'canary-user');
  await port.shutdown();
  assert.equal(errors.length, 1);
  assert.equal(received.at(-1)?.path, '/refusing/v1/traces');
});

test('spans go through a proxy, except to hosts of NO_PROXY', async () => {
  const { host } = new URL(endpoint);
  for (const [noProxy, path] of [
    ['', 'http://localhost:1/v1/traces'],
    ['localhost', null],
  ] as const) {
    received.length = 0;
    const port = await withTracing(scriptedModels(), {
      ...{ endpoint: 'http://localhost:1', serviceName: 'cueline', serviceVersion: '1.2.3' },
      proxies: { http: `http://${host}`, https: null, noProxy },
      onError: () => {},
    });
    await collectResponse(port, call);
    await port.shutdown();
    assert.equal(received[0]?.path ?? null, path);
  }
});

interface SeenSpan {
  name: string;
  kind: number;
  status: object;
  attributes: { key: string; value: object }[];
}

/** The spans that the collector received after shutdown. */
async function spansOf(models: ModelPort, work: (port: ModelPort) => Promise<void>) {
  received.length = 0;
  const port = await withTracing(models, {
    ...{ endpoint, serviceName: 'cueline', serviceVersion: '1.2.3' },
    onError: (error) => assert.fail(String(error)),
  });
  await work(port);
  await port.shutdown();
  assert.equal(received.length, 1);
  const [{ path, headers, text } = assert.fail()] = received;
  assert.equal(path, '/v1/traces');
  assert.equal(headers['content-type'], 'application/json');
  assert.doesNotMatch(text, /canary/);
  const [{ resource, scopeSpans }] = JSON.parse(text).resourceSpans;
  const { 'service.name': name, 'service.version': version } = plain(resource.attributes);
  assert.deepEqual([name, version], ['cueline', '1.2.3']);
  return (scopeSpans[0].spans as SeenSpan[]).map((span) => ({
    ...{ name: span.name, kind: span.kind, status: span.status },
    attributes: plain(span.attributes),
  }));
}

function plain(attributes: SeenSpan['attributes']): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, unwrapped(value)]));
}

function unwrapped(value: object): unknown {
  const [inner] = Object.values(value);
  return Array.isArray(inner?.values) ? inner.values.map(unwrapped) : inner;
}
