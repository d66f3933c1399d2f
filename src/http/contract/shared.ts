import { type Static, type TOptional, type TSchema, type TUnsafe, Type } from 'typebox';
import { windows } from '../../core/agent/limits.ts';
import { exampleId, id, nullable, oneOf, time } from '../../core/field-types.ts';
import type { IdKind } from '../../core/id.ts';
import * as limits from './contract-limits.ts';
import { patterns } from './patterns.ts';

export { exampleId, id, idKind, nullable, oneOf, time } from '../../core/field-types.ts';

/**
 * Schemas that several resources share. A schema with a `title` becomes a component of the OpenAPI
 * document.
 */

/**
 * Selects the workspace of a session whose user belongs to several. Ignored for keys, which belong
 * to one workspace.
 */
export const workspaceHeader = 'Cueline-Workspace';

/** Marks the identifier of a resource itself. */
export const isOwnId = Symbol('identifier of the resource itself');

/** A string; the mark tells the types of `toWire` that rows name it `id`. */
export type OwnId = string & { readonly [isOwnId]?: true };

/** The identifier of the resource itself: `agentId` of an agent. Its row names it `id`. */
export function ownId(kind: IdKind, description = 'Identifier.') {
  return Type.Unsafe<OwnId>({ ...id(kind, description), [isOwnId]: true });
}

/** Marks an object that is stored as it is sent. */
export const isStoredAsSent = Symbol('stored as it is sent');

/** Marks a field of a request with the kind of what it names. */
export const refersTo = Symbol('refers to');

/**
 * An identifier in a request. Not validated: a malformed identifier is treated as unknown (404). The slug and the aliases of
 * an agent are accepted too.
 */
export function reference(kind: IdKind, description?: string) {
  return Type.String({
    ...(description === undefined ? {} : { description }),
    [refersTo]: kind,
    examples: [exampleId(kind)],
  });
}

/**
 * A query parameter of several values, separated by commas. Within a value, `\,` is a comma and `\\` a backslash. A text
 * with commas also counts as it is, unless only certain values are allowed. The handler always gets a list.
 */
export function listOf<S extends TSchema>(items: S, maxItems: number, description: string) {
  return Type.Unsafe<Static<S> | readonly Static<S>[]>({
    type: 'array',
    items,
    minItems: 1,
    maxItems,
    // Of the parameter, in the OpenAPI document.
    explode: false,
    description,
  });
}

type Fields = Readonly<Record<string, TSchema>>;

/** The same fields, of which each may be left out. */
export function optional<F extends Fields>(fields: F) {
  const entries = Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]);
  return Object.fromEntries(entries) as { [Name in keyof F]: TOptional<F[Name]> };
}

/** The same fields, of which each may be `null`. */
export function nullableFields<F extends Fields>(fields: F) {
  const entries = Object.entries(fields).map(([name, field]) => [name, nullable(field)]);
  return Object.fromEntries(entries) as { [Name in keyof F]: TUnsafe<Static<F[Name]> | null> };
}

/** A string with a maximum length. */
export function text(maxLength: number, description?: string) {
  return Type.String({ maxLength, ...(description === undefined ? {} : { description }) });
}

/** A name: visible, on one line, in the order in which it is written. */
export function name(description: string, maxLength = limits.nameMax) {
  const bounds = { minLength: 1, maxLength, pattern: patterns.name.source };
  return Type.String({ ...bounds, description, examples: ['Explainer'] });
}

/** A name that may be empty. */
export function optionalName(description: string, maxLength: number) {
  return Type.String({ maxLength, pattern: patterns.optionalName.source, description });
}

/** Label of a new version of a prompt or workflow. */
export const versionLabel = Type.Optional(
  name(
    'Default: `v{number}`. If an earlier version has that label: `v{number}-2`, or the first free suffix after it.',
    limits.labelMax,
  ),
);

/** The slug of an agent or workflow. */
export const slug = Type.String({
  pattern: patterns.slug.source,
  description:
    'Name for other programs, such as the `model` of the OpenAI API. Unique among the agents and workflows of the workspace; free again after deletion, not after archiving. By default derived from the name, with the first free suffix `-2`, `-3`, …; renaming does not change it.',
  examples: ['explainer'],
});

/** How long a replaced secret stays valid. */
export function graceSeconds(description: string) {
  const bounds = { minimum: 0, maximum: limits.graceSecondsMax, default: 0 };
  return Type.Optional(Type.Integer({ ...bounds, description }));
}

const createdAt = time('Time of creation.');
const createdBy = nullable(id('user', 'Creator. `null` if the account no longer exists.'));

/** When and by whom a resource was created, of resources that do not change. */
export const creation = { createdAt, createdBy };

/** The same of resources that change. */
export const creationAndChange = {
  createdAt,
  updatedAt: time('Time of the last change.'),
  createdBy,
};

/** A request object without unknown fields. */
export function body<P extends Record<string, TSchema>>(title: string, properties: P) {
  return Type.Object(properties, { title, additionalProperties: false });
}

/** Query parameters without unknown ones. */
export function query<P extends Record<string, TSchema>>(properties: P) {
  return Type.Object(properties, { additionalProperties: false });
}

const requests = (per: string) =>
  nullable(
    Type.Integer({ minimum: 0, maximum: limits.requestsMax }),
    `Calls allowed per calendar ${per} (UTC). \`null\`: unlimited. 0: none.`,
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
  description: 'An omitted window does not change. On creation, it gets its default.',
  additionalProperties: false,
});

/** Current usage of each limited window, by owner of the limit. */
export const RateLimitUsage = Type.Array(
  Type.Object(
    {
      scope: oneOf(['key', 'agent', 'stage'], 'Owner of the limit.'),
      window: oneOf(windows, 'Calendar window (UTC).'),
      limit: Type.Integer({ minimum: 0, description: 'Calls allowed in the window.' }),
      used: Type.Integer({
        minimum: 0,
        description:
          'Calls used in the window. Exceeds `limit` if the limit was lowered meanwhile.',
      }),
      remaining: Type.Integer({ minimum: 0, description: 'Calls remaining in the window.' }),
      resetAt: time('Start of the next window.'),
    },
    { title: 'RateLimitWindow' },
  ),
  { description: 'Usage of the windows with a limit. Unlimited windows are omitted.' },
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
    description:
      'Browser origins allowed by CORS: `scheme://host[:port]` in lower case, compared exactly, without a default port; no `*`. Empty: none.',
  },
);

export const Pagination = Type.Object(
  {
    limit: Type.Integer({ description: 'Results per page.' }),
    offset: Type.Integer({ description: 'Results skipped.' }),
    total: Type.Integer({ description: 'Number of matching results on all pages.' }),
    hasMore: Type.Boolean({ description: 'Whether more results follow this page.' }),
  },
  { title: 'Pagination' },
);
export type Pagination = Static<typeof Pagination>;

export function pageLimit(description: string) {
  const bounds = { minimum: 1, maximum: limits.pageMax, default: limits.pageDefault };
  return Type.Optional(Type.Integer({ ...bounds, description }));
}

/** Page parameters of every list. Out-of-range values are rejected, never clamped. */
export const pageQuery = {
  limit: pageLimit('Results per page.'),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.offsetMax,
      default: 0,
      description: 'Results to skip.',
    }),
  ),
};

/** Response of a list: its rows under their own name, and the pagination. */
export function page<Name extends string, S extends TSchema>(title: string, of: Name, row: S) {
  const rows = { [of]: Type.Array(row) } as { [K in Name]: ReturnType<typeof Type.Array<S>> };
  return Type.Object({ ...rows, pagination: Pagination }, { title });
}

/** Query parameter for long polling a status. */
export const waitQuery = query({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: limits.waitSecondsMax,
      description:
        'Seconds to wait for the end before responding. If too many requests wait, the response is immediate: ask again after `Retry-After`.',
    }),
  ),
});

/** Optional on a change of resources that have an `ETag`: that of the last read. A stale one returns 412. */
export const ifMatch = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      description: '`ETag` of the last read. Returns 412 if the resource changed since.',
    }),
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

/** Path parameters. */
export const pathParams = {
  agentId: reference('agent', 'The agent: its identifier, slug or an alias.'),
  executionId: reference('execution', 'The execution, from the response of the execute call.'),
  batchId: reference('batch', 'The batch, from the response to the upload.'),
  responseId: reference('execution', 'The response: an execution.'),
  model: Type.String({ description: 'Identifier, slug or alias of an agent.' }),
  promptId: reference('prompt', 'The prompt.'),
  promptVersionId: reference('version', 'The prompt version.'),
  apiKeyId: reference('key', 'The API key: its identifier, not the secret.'),
  userId: reference('user', 'The member.'),
  invitationId: reference('invitation', 'The invitation.'),
  erasureId: reference('erasure', 'The erasure.'),
  workflowId: reference('workflow', 'The workflow.'),
  workflowVersionId: reference('workflowVersion', 'The version of the workflow.'),
  workflowRunId: reference(
    'workflowRun',
    'The workflow run, from the response of the execute call.',
  ),
  stepName: Type.String({ description: 'Name of a step in the definition.' }),
  scheduleId: reference('schedule', 'The schedule.'),
  webhookId: reference('webhook', 'The webhook.'),
  endpointId: reference('endpoint', 'The endpoint.'),
  eventId: reference('event', 'The event.'),
  toolServerId: reference('toolServer', 'The tool server.'),
  toolName: Type.String({ description: 'Name of a tool of the server.' }),
  alertId: reference('alert', 'The alert.'),
  budgetId: reference('budget', 'The budget.'),
  token: Type.String({ description: 'Last part of the invitation link.' }),
  name: Type.String({ description: 'Provider name: the part of a model before the slash.' }),
} as const satisfies Record<string, TSchema>;
