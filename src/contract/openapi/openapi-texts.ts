import type { Tag } from '../endpoint.ts';
import type { Json } from './openapi-components.ts';

/** What the document says in prose. */

export const about = `Cueline hosts agents: prompts pinned to one version, run over HTTP. A call is accepted and recorded at once, the model runs after, and every run is a record that can be listed.

**Authentication.** Programs send \`Authorization: Bearer <API key>\`; the dashboard has a session cookie, and says in \`Cueline-Workspace\` which workspace is meant where its user has several. Each operation says what it needs.

**Identifiers** are opaque and prefixed by their kind: \`agt_\`, \`exe_\`, \`key_\` and so on. A malformed one is an unknown one: 404. **Times** are ISO 8601, UTC, with milliseconds.

**Errors** all have the fields \`error\`, \`message\`, \`code\` and \`requestId\`; some have more. Every answer carries the header \`X-Request-Id\`. Programs go by \`code\`. Unknown fields and parameters are refused, and nothing is ever clamped or cut. A path that does not exist is 404, a method that it does not have 405.

**Retries.** 429 and 503 say in \`Retry-After\` how many seconds to wait. A call with an \`Idempotency-Key\` can be repeated without running twice.`;

export const tagMeaning: Record<Tag, string> = {
  Executions: 'Run an agent, follow the run, and read the history of all of them.',
  Agents: 'A prompt pinned to one version, with its settings, lifecycle and limits.',
  Prompts: 'Templates and their immutable versions.',
  Declaration: 'Prompts, agents and workflows as code, in `cueline.yaml`.',
  Workflows:
    'Steps that execute agents, one after the other or side by side, and the runs of them.',
  Keys: 'What programs authenticate with. A secret is shown once.',
  Usage: 'The plan and what was used of it.',
  Providers: 'Where models are called, with which credentials and at which price.',
  Members: 'Who may do what in the workspace. People come in by invitation only.',
  Retention: 'How long records are kept, and how those of one end user are deleted.',
  Audit: 'Who changed what.',
  System: 'The process itself.',
};

/** The name and the meaning of each status, as far as an operation says nothing more. */
export const statusWords: Readonly<Record<number, readonly [string, string]>> = {
  200: ['OK', 'The result.'],
  201: ['Created', 'What was made.'],
  202: ['Accepted', 'Accepted and durably recorded.'],
  204: ['NoContent', 'Done; no body.'],
  400: ['BadRequest', 'A parameter, a field or the JSON itself is wrong; `message` names it.'],
  401: ['Unauthorized', 'No valid key or session, or not one for this agent.'],
  403: ['Forbidden', 'Known, but without the right; or the agent takes no calls now.'],
  404: ['NotFound', 'No such thing, or not one that the caller can see.'],
  409: ['Conflict', 'What is there does not allow it.'],
  412: ['PreconditionFailed', 'Changed since it was read: `If-Match` is stale.'],
  413: ['TooLarge', 'The body is over 1 MiB.'],
  415: ['UnsupportedMediaType', 'The body is not `application/json`.'],
  422: ['Unprocessable', 'The `Idempotency-Key` was used with other variables.'],
  429: ['TooManyRequests', 'A limit or the quota is used up; `Retry-After` says for how long.'],
  500: ['InternalError', 'A fault of the server; quote the `requestId`.'],
  503: ['Unavailable', 'Not now; `Retry-After` says when to try again.'],
};

const header = (description: string, schema: Json = { type: 'string' }) => ({
  description,
  schema,
});
const integer = { type: 'integer', minimum: 0 };

/** Every header that answers carry. */
export const headers: Record<string, Json> = {
  'X-Request-Id': header('Names this call in logs and errors.'),
  'WWW-Authenticate': header('`Bearer`'),
  'Content-Disposition': header('`attachment`, with a name for the file.'),
  'Retry-After': header('Whole seconds to wait.', { type: 'integer', minimum: 1 }),
  ETag: header('Names this state of the resource, for `If-Match`.'),
  Location: header('Where what was made can be read.'),
  'Idempotent-Replayed': header('`true` where an earlier answer is given again.'),
  RateLimit: header(
    'What is left of the tightest window, as in the IETF draft. Absent, as are those beside it, where nothing limits, and from a refusal that came before a window was looked at.',
  ),
  'RateLimit-Policy': header('The windows that hold, as in the IETF draft.'),
  'X-RateLimit-Limit': header('Calls that the tightest window lets past.', integer),
  'X-RateLimit-Remaining': header('What is left of it.', integer),
  'X-RateLimit-Reset': header('When it ends, in seconds since 1970.', integer),
};

const aboutLimits = [
  'RateLimit',
  'RateLimit-Policy',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** The headers of an answer with that status, of an operation that sends those. */
export function headersOf(status: number, sends: readonly string[]): string[] {
  return [
    'X-Request-Id',
    // Whatever came after a window was looked at tells of it.
    ...sends.flatMap((name) => (name === 'RateLimit' ? aboutLimits : status < 300 ? [name] : [])),
    ...(status === 401 ? ['WWW-Authenticate'] : []),
    ...(status === 429 || status === 503 ? ['Retry-After'] : []),
  ];
}

/** Alternatives: any one of them gives access; none means that the operation is public. */
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
  if (rights.includes('own')) {
    const keys = permissions.map((one) => `, or an API key with ${one} that an owner created`);
    return `Needs an owner's session${keys.join('')}.`;
  }
  return `Needs ${ways.join(', or ')}.`;
}

const sessionText: Readonly<Record<string, string>> = {
  read: "any member's session",
  execute: "an editor's session",
  cancel: "an editor's session",
  manage: "an editor's session",
};
