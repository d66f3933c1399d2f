import { Type } from 'typebox';
import { toolServerKinds, toolStates } from '../../../core/tools/tool-server.ts';
import * as limits from '../../../http/contract/contract-limits.ts';
import { endpoint } from '../../../http/contract/operation.ts';
import { patterns } from '../../../http/contract/patterns.ts';
import { problems } from '../../../http/contract/problem.ts';
import {
  body,
  creationAndChange,
  graceSeconds,
  id,
  ifMatch,
  nullable,
  oneOf,
  optional,
  ownId,
  query,
  text,
  time,
} from '../../../http/contract/shared.ts';

/** Servers of tools that the service executes. */

const tag = 'Tools';
const readable = { method: 'GET', tag, auth: 'own' } as const;
const managed = { tag, auth: 'own' } as const;
const closed = { additionalProperties: false } as const;

const toolName = {
  ...{ pattern: patterns.toolName.source, minLength: 1, maxLength: limits.toolNameMax },
};

const inputSchema = Type.Unsafe<Record<string, unknown>>({
  ...{ type: 'object', additionalProperties: true },
  description: 'JSON Schema of the arguments, of type `object`.',
});

const DeclaredTool = Type.Object(
  {
    name: Type.String({ ...toolName, description: 'Unique within the server.' }),
    description: text(limits.toolDescriptionMax, 'What it does, and when.'),
    inputSchema,
    path: Type.Optional(
      Type.String({
        maxLength: limits.toolPathMax,
        description:
          'Appended to the `url`, such as `/refunds`. Begins with `/`, percent-encoded, without `..`, query and fragment. Default: nothing is appended.',
        examples: ['/refunds'],
      }),
    ),
  },
  { title: 'DeclaredTool', ...closed },
);

/** What POST, PATCH and declarations accept. */
export const toolServerFields = {
  url: Type.String({
    ...{ maxLength: limits.urlMax, pattern: patterns.toolServerURL.source },
    description:
      '`https://` and a public address, unless the server allows the host, without user, query and fragment. Or `cueline:echo`, which is built in and answers each call with its arguments.',
    examples: ['https://crm.example.com/tools'],
  }),
  headers: Type.Unsafe<Record<string, string>>({
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1, maxLength: limits.secretMax },
    maxProperties: limits.serverHeadersMax,
    writeOnly: true,
    description:
      'Headers of each request, such as `Authorization`. They are stored encrypted and never returned. Replaces all of them.',
  }),
  timeoutMs: Type.Integer({
    ...{ minimum: limits.toolTimeoutMsMin, maximum: limits.toolTimeoutMsMax },
    description: `For a request, with its answer. Default: ${limits.toolTimeoutMsDefault}. Versions keep the one that was set when they were created.`,
  }),
  maxConcurrency: Type.Integer({
    ...{ minimum: 1, maximum: limits.toolConcurrencyMax },
    description: `Requests in flight, of each process. Default: ${limits.toolConcurrencyDefault}.`,
  }),
  tools: Type.Array(DeclaredTool, {
    maxItems: limits.serverToolsMax,
    description: `Replaces all of them. At most ${limits.definitionsCharsMax} characters together as JSON.`,
  }),
};

export const toolServerName = Type.String({
  pattern: patterns.slug.source,
  description: 'Unique within the workspace. Versions name the server by it.',
  examples: ['crm'],
});

const fields = {
  toolServerId: ownId('toolServer'),
  name: Type.String(),
  kind: oneOf(toolServerKinds),
  url: nullable(Type.String()),
  headerNames: Type.Array(Type.String(), {
    description: 'Names of the headers. Their values are never returned.',
  }),
  timeoutMs: Type.Integer(),
  maxConcurrency: Type.Integer(),
  enabled: Type.Boolean({ description: 'A disabled server gets no calls.' }),
  checkedAt: nullable(time('Time of the last check.')),
  problem: nullable(Type.String(), 'What the last check found. `null`: nothing.'),
  ...creationAndChange,
};

const ToolServerSummary = Type.Object(
  { ...fields, toolNames: Type.Array(Type.String()) },
  { title: 'ToolServerSummary' },
);

const CatalogTool = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    inputSchema,
    path: Type.Optional(Type.String()),
    digest: Type.String({
      description:
        'Lower-case hex SHA-256 of the canonical JSON of `name`, `description` and `inputSchema`.',
    }),
    state: oneOf(toolStates, '`current` for declared tools.'),
  },
  { title: 'CatalogTool' },
);

const withTools = { ...fields, tools: Type.Array(CatalogTool) };
export const ToolServer = Type.Object(withTools, { title: 'ToolServer' });

const signingSecret = Type.String({
  description:
    'Signs requests as in [Standard Webhooks](https://www.standardwebhooks.com): `whsec_…`. Shown once and stored encrypted.',
});

const all = '/api/v1/tool-servers';
const one = '/api/v1/tool-servers/{toolServerId}';

export const createToolServer = endpoint({
  ...managed,
  id: 'createToolServer',
  method: 'POST',
  path: all,
  summary: 'Create a tool server',
  description: `Its tools are called once a version of a prompt names them. Nothing is signed for \`cueline:echo\`, so there is no \`signingSecret\` then. A workspace has at most ${limits.toolServersMax} servers.`,
  body: body('ToolServerInput', {
    name: toolServerName,
    kind: oneOf(toolServerKinds, 'Only `http` is supported yet.'),
    ...optional(toolServerFields),
  }),
  responses: {
    201: Type.Object(
      { ...withTools, ...optional({ signingSecret }) },
      { title: 'IssuedToolServer' },
    ),
    ...problems(409),
  },
  responseHeaders: ['Location', 'ETag'],
});

export const listToolServers = endpoint({
  ...readable,
  id: 'listToolServers',
  path: all,
  summary: 'List the tool servers',
  description: 'By name, with the names of their tools. Omits the secrets.',
  responses: {
    200: Type.Object({ toolServers: Type.Array(ToolServerSummary) }, { title: 'ToolServerList' }),
  },
});

export const listTools = endpoint({
  ...{ id: 'listTools', method: 'GET', path: '/api/v1/tools', tag, auth: 'manage' },
  summary: 'List the tools that versions can name',
  description:
    'Of enabled servers, by their names, for those who write versions: without addresses and headers. Descriptions and schemas only of the `server` in the query.',
  query: query({
    server: Type.Optional(
      Type.String({
        pattern: patterns.slug.source,
        description: 'Only tools of this server, with what a model sees of them.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        tools: Type.Array(
          Type.Object(
            {
              server: Type.String({ description: 'Name of the tool server.' }),
              tool: Type.String({ description: 'Name of the tool on its server.' }),
              description: Type.Optional(Type.String()),
              inputSchema: Type.Optional(inputSchema),
            },
            { title: 'ListedTool' },
          ),
        ),
      },
      { title: 'ToolList' },
    ),
  },
});

export const getToolServer = endpoint({
  ...readable,
  id: 'getToolServer',
  path: one,
  summary: 'Get a tool server with its tools',
  responses: { 200: ToolServer, ...problems(404) },
  responseHeaders: ['ETag'],
});

export const updateToolServer = endpoint({
  ...managed,
  id: 'updateToolServer',
  method: 'PATCH',
  path: one,
  summary: 'Change, disable or enable a tool server',
  description:
    'An omitted field does not change. Address, headers and `enabled` hold from the next call. Versions keep the definitions of their tools as they were; a tool that is no longer there answers calls with an error. A `url` at another origin needs the `headers` again.',
  headers: ifMatch,
  body: body('ToolServerPatch', {
    ...optional({ name: toolServerName, ...toolServerFields }),
    enabled: Type.Optional(Type.Boolean()),
  }),
  responses: { 200: ToolServer, ...problems(404, 409) },
  responseHeaders: ['ETag'],
});

export const deleteToolServer = endpoint({
  ...managed,
  id: 'deleteToolServer',
  method: 'DELETE',
  path: one,
  summary: 'Delete a tool server',
  description: 'Returns 409 while an agent pins a version with one of its tools.',
  headers: ifMatch,
  responses: { 204: null, ...problems(404, 409) },
});

export const rotateToolServer = endpoint({
  ...managed,
  id: 'rotateToolServer',
  method: 'POST',
  path: `${one}/rotate`,
  summary: 'Replace the signing secret of a tool server',
  description:
    'During the grace period both secrets sign each request. That of `cueline:echo` signs once the `url` is another one.',
  body: body('ToolServerRotation', {
    graceSeconds: graceSeconds('How long the old secret still signs.'),
  }),
  bodyOptional: true,
  responses: {
    200: Type.Object({ signingSecret }, { title: 'RotatedToolServer' }),
    ...problems(404),
  },
});

const changedTool = Type.Object({
  name: Type.String(),
  before: Type.Object({}, { additionalProperties: true }),
  after: Type.Object({}, { additionalProperties: true }),
});

export const checkToolServer = endpoint({
  ...managed,
  id: 'checkToolServer',
  method: 'POST',
  path: `${one}/check`,
  summary: 'Check a tool server',
  description:
    'Whether it answers at all, for at most ten seconds: a `HEAD` request to its `url`, whose status does not matter. The status is 200 even if it does not: check `problem`. The tools of an `http` server are declared here, so they never differ from it.',
  responses: {
    200: Type.Object(
      {
        toolServerId: ownId('toolServer'),
        checkedAt: nullable(time('Time of this check.')),
        problem: nullable(Type.String(), '`null`: nothing is wrong.'),
        added: Type.Array(Type.String()),
        changed: Type.Array(changedTool),
        gone: Type.Array(Type.String()),
      },
      { title: 'ToolServerCheck' },
    ),
    ...problems(404),
  },
});

export const tryTool = endpoint({
  ...managed,
  id: 'tryTool',
  method: 'POST',
  path: `${one}/tools/{toolName}/try`,
  summary: 'Call a tool once',
  description:
    'A real call, which may change something there. It is no execution and leaves no record but an entry of the audit log, without its arguments. The status is 200 however it ended: check `outcome`.',
  body: body('ToolTrial', {
    arguments: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...{ type: 'object', additionalProperties: true },
        description: 'Default: none.',
      }),
    ),
  }),
  bodyOptional: true,
  responses: {
    200: Type.Object(
      {
        toolCallId: id('toolCall', 'Sent as `webhook-id` and `Idempotency-Key`.'),
        outcome: oneOf(
          ['done', 'refused', 'unknown'],
          '`done`: it answered. `refused`: before any work, nothing was sent or the answer was 429. `unknown`: whether it worked is not known.',
        ),
        isError: Type.Boolean({ description: 'Whether the result is an error.' }),
        result: nullable(Type.String(), 'As a model would read it. `null` unless `done`.'),
        problem: nullable(Type.String(), 'Why there is no result. `null` if `done`.'),
        latencyMs: Type.Integer({ minimum: 0 }),
      },
      { title: 'TriedTool' },
    ),
    ...problems(404),
  },
});
