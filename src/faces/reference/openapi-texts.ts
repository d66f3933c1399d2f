import { words } from '../../core/words.ts';
import type { Tag } from '../../http/contract/operation.ts';
import type { Json } from './openapi-components.ts';

/** Prose of the document. */

export const introduction = `Cueline hosts agents. An agent pins one version of a prompt and is executed over HTTP. A call is accepted and recorded immediately; the model is called afterwards. Every execution becomes a record in the history.

**Authentication.** Programs send \`Authorization: Bearer <API key>\`. The dashboard uses a session cookie, and the header \`Cueline-Workspace\` selects the workspace if the user belongs to several. Each operation states the permission it needs.

**Identifiers** are opaque and have a prefix per kind: \`agt_\`, \`exe_\`, \`key_\` and so on. A malformed identifier is treated as unknown: 404. **Times** are ISO 8601 in UTC, with milliseconds, from the clock of the database.

**Errors** always have the fields \`error\`, \`message\`, \`code\` and \`requestId\`; some have more. Branch on \`code\`. Every response has the header \`X-Request-Id\`. Unknown fields and parameters are rejected; values are never clamped or truncated. An unknown path returns 404, an unsupported method 405.

**Retries.** For 429 and 503, \`Retry-After\` gives the number of seconds to wait. A call with an \`Idempotency-Key\` can be repeated without executing twice.`;

export const tagTexts: Record<Tag, string> = {
  Batches: 'Upload files of calls, follow them, and read their results.',
  Executions: 'Execute agents, poll executions, and read the history.',
  'OpenAI API':
    'Agents as models of the OpenAI API: set the base URL of any client to `…/v1`. Errors have the form of OpenAI.',
  Agents: 'Agents pin one prompt version and have settings, a lifecycle and limits.',
  Prompts: 'Templates and their immutable versions.',
  Declaration: 'Prompts, agents and workflows as code, in `cueline.yaml`.',
  Events: 'Endpoints receive signed events about executions, agents, keys, alerts and more.',
  Workflows: 'Workflows execute agents in sequential or parallel steps.',
  Tools: 'Servers of tools that agents call. Their owners declare them.',
  Keys: 'API keys authenticate programs. A secret is shown once.',
  Usage: "The plan and this month's usage.",
  Budgets: 'What calls may cost in a window. No budget is exceeded by what is let go out.',
  Providers: 'Model providers with their credentials and prices.',
  Members: 'Members and their roles. People join by invitation only.',
  Retention: "How long records are kept, and the deletion of an end user's records.",
  Audit: 'Who changed what.',
  System: 'Health, readiness, metrics and this reference.',
};

/** Name and default description of each status. */
export const statusTexts: Readonly<Record<number, readonly [string, string]>> = {
  200: ['OK', 'The requested data.'],
  201: ['Created', 'Created.'],
  202: ['Accepted', 'Accepted and durably recorded.'],
  204: ['NoContent', 'Done; no body.'],
  400: ['BadRequest', 'A parameter, a field or the JSON syntax is invalid. `message` names it.'],
  401: [
    'Unauthorized',
    'The key or session is missing or invalid, or the key does not cover this agent.',
  ],
  403: [
    'Forbidden',
    'The caller is authenticated but lacks the permission, or the agent does not accept calls now.',
  ],
  404: ['NotFound', 'The resource does not exist, or the caller cannot see it.'],
  409: ['Conflict', 'The current state does not allow it.'],
  412: [
    'PreconditionFailed',
    '`If-Match` is stale: the resource changed since it was read, or it has no `ETag`.',
  ],
  413: [
    'TooLarge',
    'The body exceeds its limit: that of calls is a setting (32 MiB), that of others 1 MiB. `message` names it.',
  ],
  415: [
    'UnsupportedMediaType',
    'The body is not `application/json`, or compressed other than with `gzip` or `deflate`.',
  ],
  422: ['Unprocessable', 'The `Idempotency-Key` was already used with other variables.'],
  429: [
    'TooManyRequests',
    'A rate limit or the quota is exhausted. `Retry-After` gives the seconds to wait.',
  ],
  500: ['InternalError', 'Internal error. Quote the `requestId` in a report.'],
  502: ['BadGateway', 'The execution failed. `code` is its error code.'],
  503: ['Unavailable', 'Temporarily unavailable. `Retry-After` gives the seconds to wait.'],
  504: ['GatewayTimeout', 'The execution timed out.'],
};

const header = (description: string, schema: Json = { type: 'string' }) => ({
  description,
  schema,
});
const integer = { type: 'integer', minimum: 0 };

/** Every response header. */
export const headers: Record<string, Json> = {
  'X-Request-Id': header('Identifies this request in logs and errors.'),
  'WWW-Authenticate': header('`Bearer`'),
  'Content-Disposition': header('`attachment`, with a file name.'),
  'Cueline-Data-As-Of': header(
    'Everything committed before this time is included. Present if the server may read from standbys.',
    { type: 'string', format: 'date-time' },
  ),
  'Retry-After': header('Whole seconds to wait.', { type: 'integer', minimum: 1 }),
  ETag: header('Version of the resource, for `If-Match`.'),
  Location: header('Path of the created resource.'),
  'Idempotent-Replayed': header('`true` if the response repeats an earlier one.'),
  RateLimit: header(
    'Remaining calls of the tightest window, as in the IETF draft. This header and the related ones are absent if no limit applies, or if the call was refused before a window was checked.',
  ),
  'RateLimit-Policy': header(
    'The windows that apply, as in the IETF draft: `"key-minute";q=100;w=60` is a limit of 100 calls in 60 seconds. Names begin with `key`, `agent`, `stage`, `list`, `management` or `webhook`.',
  ),
  'X-RateLimit-Limit': header('Limit of the tightest window.', integer),
  'X-RateLimit-Remaining': header('Remaining calls of the tightest window.', integer),
  'X-RateLimit-Reset': header('End of the tightest window, in seconds since 1970.', integer),
};

const rateLimitHeaders = words(`
  RateLimit RateLimit-Policy X-RateLimit-Limit X-RateLimit-Remaining X-RateLimit-Reset
`);

/** Header names of a response with that status, of an operation with these `responseHeaders`. */
export function headersOf(status: number, responseHeaders: readonly string[]): string[] {
  return [
    'X-Request-Id',
    // Every response after the rate limit check carries these headers.
    ...responseHeaders.flatMap((name) =>
      name === 'RateLimit' ? rateLimitHeaders : status < 300 ? [name] : [],
    ),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ];
}

/** Alternatives: any one of them grants access. An empty list means that the operation is public. */
export type Security = readonly Readonly<Record<string, readonly string[]>>[];

/** Who may call an operation. Viewers show the schemes of `security`, but not the permissions. */
export function accessText(security: Security): string {
  const permissions = security.flatMap(({ key }) => key ?? []).map((one) => `\`${one}\``);
  const rights = security.flatMap(({ session }) => session ?? []);
  const ways = [
    ...(permissions.length > 0 ? [`an API key with ${permissions.join(' or ')}`] : []),
    ...rights.map((right) => sessionText[right] ?? 'a session'),
  ];
  if (ways.length === 0) return 'Public.';
  return `Needs ${ways.join(', or ')}.`;
}

const sessionText: Readonly<Record<string, string>> = {
  read: "any member's session",
  execute: "an editor's session",
  cancel: "an editor's session",
  manage: "an editor's session",
  own: "an owner's session",
};
