import type { TObject, TSchema } from 'typebox';
import { eventTypes } from '../../core/event/event.ts';
import { eventSchema, eventSchemas } from '../../features/events/contract/event-types.ts';
import {
  type Endpoint,
  isManagement,
  keyRight,
  sessionRight,
  tags,
} from '../../http/contract/operation.ts';
import { Problem, responsesOf } from '../../http/contract/problem.ts';
import { pathParams, reference, workspaceHeader } from '../../http/contract/shared.ts';
import { Components, type Json } from './openapi-components.ts';
import { examples, records } from './openapi-examples.ts';
import {
  accessText,
  headers,
  headersOf,
  introduction,
  type Security,
  statusTexts,
  tagTexts,
} from './openapi-texts.ts';
import { endpoints } from './operations-index.ts';

/** Generates the OpenAPI 3.1 document from the endpoint declarations, without samples. */
export function openapi(version: string): Json {
  const components = new Components();
  components.use(Problem);
  const paths: Record<string, Json> = {};
  for (const e of Object.values(endpoints) as Endpoint[]) {
    paths[e.path] = { ...paths[e.path], [e.method.toLowerCase()]: operation(e, components) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Cueline',
      version,
      summary:
        'Self-hosted agent execution service: versioned prompts, executed over HTTP, every execution a record.',
      description: introduction,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags: tags.map((name) => ({ name, description: tagTexts[name] })),
    paths,
    webhooks: webhooks(components),
    components: {
      schemas: withRecordExamples(components.all()),
      responses: plainProblems(),
      parameters: {
        Workspace: { ...workspaceParameter, schema: components.use(reference('workspace')) },
      },
      headers,
      securitySchemes,
    },
  };
}

/** The requests that endpoints receive, by event type. */
function webhooks(components: Components): Json {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  });
  const signed = [
    header('webhook-id', 'The `eventId`, the same in all attempts.'),
    header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.'),
    header('webhook-signature', 'Signatures `v1,…`, separated by spaces.'),
  ];
  const entries = eventTypes.map((type) => [
    type,
    {
      post: {
        operationId: `event.${type}`,
        tags: ['Events'],
        summary: type,
        description: eventSchemas[type].description,
        security: [],
        parameters: signed,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: components.use(eventSchema(type)) } },
        },
        responses: {
          '2XX': { description: 'The event is delivered.' },
          '410': { description: 'The endpoint is disabled.' },
        },
      },
    },
  ]);
  return Object.fromEntries(entries);
}

function withRecordExamples(schemas: Record<string, Json>): Json {
  const withExamples = Object.entries(schemas).map(([name, schema]) => {
    const example = records[name];
    return [name, example === undefined ? schema : { ...schema, examples: [example] }];
  });
  return Object.fromEntries(withExamples);
}

const securitySchemes = {
  key: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key. Each operation lists the permission that the key needs.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'cueline.session_token',
    description:
      'Session cookie of the dashboard. Each operation lists the right that the role needs. Writes require the same origin and JSON.',
  },
};

const workspaceParameter = {
  name: workspaceHeader,
  in: 'header',
  description:
    'Selects the workspace of a session whose user belongs to several. Default: the first workspace joined as an owner, else the first joined. Ignored for keys, which belong to one workspace.',
};

function operation(e: Endpoint, components: Components): Json {
  const responses = [...responsesOf(e)].map(([status, schema]) => [
    status,
    response(e, status, schema, components),
  ]);
  const allowed = security(e);
  return {
    operationId: e.id,
    tags: [e.tag],
    summary: e.summary,
    description: [e.description, accessText(allowed)].filter(Boolean).join('\n\n'),
    security: allowed,
    parameters: parameters(e, components),
    ...(e.body ? { requestBody: requestBody(e, e.body, components) } : {}),
    responses: {
      ...(e.streamed && { 200: streamedResponse(e) }),
      ...Object.fromEntries(responses),
    },
  };
}

function streamedResponse(e: Endpoint): Json {
  return {
    description: e.streamed,
    headers: headerReferences(headersOf(200, headersSent(e))),
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  };
}

/** Alternatives: any one of them grants access. An empty list grants access to anyone. */
function security(e: Endpoint): Security {
  const key = keyRight(e);
  const session = sessionRight(e);
  return [
    ...(key ? [{ key: [key] }] : []),
    ...(e.orPermission ? [{ key: [e.orPermission] }] : []),
    ...(e.ownPermission ? [{ key: [e.ownPermission] }] : []),
    ...(session ? [{ session: [session] }] : []),
  ];
}

function parameters(e: Endpoint, components: Components): Json[] {
  const inPath = [...e.path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameter('path', String(name), pathParams[name as keyof typeof pathParams], true, components),
  );
  return [
    ...inPath,
    ...fields('query', e.query, components),
    ...fields('header', e.headers, components),
    ...(sessionRight(e) ? [{ $ref: '#/components/parameters/Workspace' }] : []),
  ];
}

function fields(place: string, object: TObject | undefined, components: Components): Json[] {
  const required = new Set<string>(object?.required ?? []);
  return Object.entries(object?.properties ?? {}).map(([name, schema]) =>
    parameter(place, name, schema, required.has(name), components),
  );
}

function parameter(
  place: string,
  name: string,
  from: TSchema,
  required: boolean,
  components: Components,
): Json {
  const { description, explode, ...schema } = components.use(from);
  const list = explode === undefined ? {} : { style: 'form', explode };
  return { name, in: place, ...(required ? { required } : {}), description, ...list, schema };
}

function requestBody(e: Endpoint, schema: TSchema, components: Components): Json {
  const content = { schema: components.use(schema), ...examplesOf(e, 'body') };
  const types = e.consumes ?? ['application/json'];
  return {
    required: !e.bodyOptional,
    content: Object.fromEntries(types.map((type) => [type, content])),
  };
}

function response(e: Endpoint, status: number, schema: TSchema | null, components: Components) {
  if (schema === Problem) return { $ref: `#/components/responses/${plainName(e, status)}` };
  const types = (status < 300 && e.produces) || ['application/json'];
  const media = schema && { schema: components.use(schema), ...examplesOf(e, status) };
  return {
    description: statusTexts[status]?.[1],
    headers: headerReferences(headersOf(status, headersSent(e))),
    ...(media ? { content: Object.fromEntries(types.map((type) => [type, media])) } : {}),
  };
}

function examplesOf(e: Endpoint, place: string | number): Json {
  const here = Object.entries(examples[e.id]?.[place] ?? {});
  if (here.length === 0) return {};
  return { examples: Object.fromEntries(here.map(([name, value]) => [name, { value }])) };
}

/** Error responses with only the four standard fields, each declared once. */
function plainProblems(): Json {
  const plain = (Object.values(endpoints) as Endpoint[]).flatMap((e) =>
    [...responsesOf(e)].flatMap(([status, schema]) => (schema === Problem ? [{ e, status }] : [])),
  );
  plain.sort((a, b) => a.status - b.status);
  return Object.fromEntries(
    plain.map(({ e, status }) => [plainName(e, status), plainProblem(e, status)]),
  );
}

function plainName(e: Endpoint, status: number): string {
  return `${sendsRateLimit(e) ? 'Limited' : ''}${statusTexts[status]?.[0]}`;
}

function plainProblem(e: Endpoint, status: number): Json {
  return {
    description: statusTexts[status]?.[1],
    headers: headerReferences(headersOf(status, sendsRateLimit(e) ? ['RateLimit'] : [])),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

function headersSent(e: Endpoint): readonly string[] {
  const { responseHeaders = [] } = e;
  return isManagement(e) ? [...responseHeaders, 'RateLimit'] : responseHeaders;
}

function sendsRateLimit(e: Endpoint): boolean {
  return headersSent(e).includes('RateLimit');
}

function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
