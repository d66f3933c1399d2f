import { type Static, type TSchema, Type } from 'typebox';
import { windows } from '../core/execution/limits.ts';
import { type IdKind, idPattern, toId } from '../core/id.ts';
import * as limits from './limits.ts';
import { patterns } from './patterns.ts';

/** The words that several resources share. A schema with a `title` becomes a component of the OpenAPI document. */

/** Of a session whose user belongs to several workspaces: the one that is meant. Keys belong to one and ignore it. */
export const workspaceHeader = 'Cueline-Workspace';

/** An identifier as it is answered. */
export function id(kind: IdKind, description?: string) {
  return Type.String({
    pattern: idPattern(kind),
    ...(description === undefined ? {} : { description }),
    examples: [exampleId(kind)],
  });
}

/** An identifier as it is sent: not held to its pattern, because a malformed one is simply unknown (404). */
export function reference(kind: IdKind, description?: string) {
  return Type.String({
    ...(description === undefined ? {} : { description }),
    examples: [exampleId(kind)],
  });
}

/** The same identifier of that kind wherever one is shown. */
export function exampleId(kind: IdKind): string {
  return toId(kind, '019a9e3b-7c00-7a52-9e0c-5b1f0c6d2e41');
}

/** One of the texts given. */
export function oneOf<const Values extends readonly string[]>(
  values: Values,
  description?: string,
) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    enum: [...values],
    ...(description === undefined ? {} : { description }),
  });
}

/** The same or `null`, as one `type` with two names: it reads better than `anyOf`, and so do its errors. */
export function nullable<S extends TSchema>(schema: S, description?: string) {
  const { type, enum: values, ...rest } = schema as { type?: unknown; enum?: unknown[] };
  if (typeof type !== 'string') throw new Error('only a schema with a single type can be nullable');
  return Type.Unsafe<Static<S> | null>({
    type: [type, 'null'],
    ...(values ? { enum: [...values, null] } : {}),
    ...rest,
    ...(description === undefined ? {} : { description }),
  });
}

/** A time as it is answered. */
export function time(description: string) {
  return Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    description,
    examples: ['2026-11-21T09:30:00.000Z'],
  });
}

/** A text of at most that many characters. */
export function text(maxLength: number, description?: string) {
  return Type.String({ maxLength, ...(description === undefined ? {} : { description }) });
}

/** A name: not empty, not only blanks. */
export function name(description: string, maxLength = limits.nameMax) {
  return Type.String({ minLength: 1, maxLength, pattern: patterns.notBlank.source, description });
}

/** Of a new version, of a prompt or of a workflow. */
export const versionLabel = Type.Optional(
  name(
    '`v{number}` where left out; where an earlier version has that one, `v{number}-2`, or the first after it that is free.',
    limits.labelMax,
  ),
);

/** An object whose fields are all known: what a caller sends. */
export function body<P extends Record<string, TSchema>>(title: string, properties: P) {
  return Type.Object(properties, { title, additionalProperties: false });
}

/** The parameters of a query, all known. */
export function query<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const requests = (per: string) =>
  nullable(
    Type.Integer({ minimum: 0, maximum: limits.requestsMax }),
    `Calls let past in a calendar ${per} (UTC); \`null\` is no limit, 0 lets none past.`,
  );

export const RateLimits = Type.Object(
  {
    requestsPerMinute: requests('minute'),
    requestsPerHour: requests('hour'),
    requestsPerDay: requests('day'),
  },
  { title: 'RateLimits', additionalProperties: false },
);
export type RateLimits = Static<typeof RateLimits>;

export const RateLimitsInput = Type.Partial(RateLimits, {
  title: 'RateLimitsInput',
  description: 'A window left out keeps what it has; on create, its default.',
  additionalProperties: false,
});

/** Each window that has a limit, by whose limit it is, as it stands when this is answered. */
export const RateLimitUsage = Type.Array(
  Type.Object(
    {
      scope: oneOf(['key', 'agent', 'stage'], 'Whose limit it is.'),
      window: oneOf(windows, 'Which calendar window (UTC).'),
      limit: Type.Integer({ minimum: 0, description: 'What the window lets past.' }),
      used: Type.Integer({
        minimum: 0,
        description: 'What it has let past; more than `limit` where that was lowered meanwhile.',
      }),
      remaining: Type.Integer({ minimum: 0, description: 'What it still lets past.' }),
      resetAt: time('When the next window begins.'),
    },
    { title: 'RateLimitWindow' },
  ),
  { description: 'What the windows with a limit have let past by now; the others are left out.' },
);
export type RateLimitUsage = Static<typeof RateLimitUsage>;

export const Origins = Type.Array(
  Type.String({
    maxLength: limits.originMax,
    pattern: patterns.origin.source,
    examples: ['https://app.example.com'],
  }),
  {
    maxItems: limits.originsMax,
    uniqueItems: true,
    description: 'Browser origins that may call with CORS, compared exactly. Empty means none.',
  },
);

export const Pagination = Type.Object(
  {
    limit: Type.Integer({ description: 'Results per page.' }),
    offset: Type.Integer({ description: 'Results skipped.' }),
    total: Type.Integer({ description: 'All results that match, not only those of the page.' }),
    hasMore: Type.Boolean({ description: 'Whether more results follow this page.' }),
  },
  { title: 'Pagination' },
);
export type Pagination = Static<typeof Pagination>;

/** The page parameters that every list takes. Never clamped: what is out of range is refused. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.pageMax,
      default: limits.pageDefault,
      description: 'Results per page.',
    }),
  ),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.offsetMax,
      default: 0,
      description: 'Results to skip.',
    }),
  ),
};

/** The answer of a list: its rows under their own name, and where in the whole they stand. */
export function page<Name extends string, S extends TSchema>(title: string, of: Name, row: S) {
  const rows = { [of]: Type.Array(row) } as { [K in Name]: ReturnType<typeof Type.Array<S>> };
  return Type.Object({ ...rows, pagination: Pagination }, { title });
}

/** Of the status of a run. */
export const waitQuery = query({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.waitSecondsMax,
      description:
        'Seconds to hold the answer until the run ends. While too many are held it comes at once: ask again after `Retry-After`.',
    }),
  ),
});

/** Optional on every PATCH: the `ETag` of what was read. A stale one is 412. */
export const ifMatch = Type.Object({
  'If-Match': Type.Optional(
    Type.String({ description: 'The `ETag` of what was read; 412 where it has changed since.' }),
  ),
});

const VariableName = Type.String({
  pattern: patterns.variableName.source,
  maxLength: limits.variableNameMax,
});

export function variableNames(description: string) {
  return Type.Array(VariableName, {
    maxItems: limits.variablesMax,
    uniqueItems: true,
    description,
  });
}

/** What may stand between the braces of a path. */
export const pathParams = {
  agentId: reference('agent', 'The agent.'),
  executionId: reference('execution', 'The execution, as the execute call answered it.'),
  promptId: reference('prompt', 'The prompt.'),
  promptVersionId: reference('version', 'The prompt version.'),
  apiKeyId: reference('key', 'The API key (its identifier, not the secret).'),
  userId: reference('user', 'The member.'),
  invitationId: reference('invitation', 'The invitation.'),
  erasureId: reference('erasure', 'The erasure.'),
  workflowId: reference('workflow', 'The workflow.'),
  workflowVersionId: reference('workflowVersion', 'The version of the workflow.'),
  workflowRunId: reference('workflowRun', 'The run, as the execute call answered it.'),
  stepName: Type.String({ description: 'The name of a step, as the definition has it.' }),
  scheduleId: reference('schedule', 'The schedule.'),
  webhookId: reference('webhook', 'The webhook.'),
  token: Type.String({ description: 'What the link of an invitation ends in.' }),
  name: Type.String({ description: 'The name that stands before the slash of a model.' }),
} as const satisfies Record<string, TSchema>;
