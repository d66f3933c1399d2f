import { Type } from 'typebox';
import { endpoint } from './operation.ts';
import { problems } from './problem.ts';

const tag = 'System';
const shared = { method: 'GET', tag, auth: 'none' } as const;

export const getHealth = endpoint({
  ...shared,
  id: 'getHealth',
  path: '/healthz',
  summary: 'Check whether the process is alive',
  responses: { 200: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }) },
});

export const getReadiness = endpoint({
  ...shared,
  id: 'getReadiness',
  path: '/readyz',
  summary: 'Check whether the process is ready',
  description:
    'Returns 503 while an execution could not be accepted: the database is unreachable, read-only, full or has another schema, or the process drains; also while a worker has no lease. Load balancers use it for writes, and `/healthz` for reads.',
  responses: {
    200: Type.Object({ status: Type.Literal('ready') }, { title: 'Readiness' }),
    ...problems(503),
  },
});

export const getMetrics = endpoint({
  ...shared,
  id: 'getMetrics',
  path: '/metrics',
  summary: 'Get the metrics of the process',
  description:
    'Prometheus text format. Open on loopback under a loopback `Host`; otherwise it requires the bearer token of `CUELINE_METRICS_TOKEN`.',
  produces: ['text/plain'],
  responses: { 200: Type.String(), ...problems(401) },
});

export const getOpenapi = endpoint({
  ...shared,
  id: 'getOpenapi',
  path: '/openapi.json',
  summary: 'Get the OpenAPI document',
  responses: { 200: Type.Unsafe<Record<string, unknown>>({ type: 'object' }) },
});

export const getDocs = endpoint({
  ...shared,
  id: 'getDocs',
  path: '/docs',
  summary: 'Get the API reference page',
  produces: ['text/html'],
  responses: { 200: Type.String() },
});
