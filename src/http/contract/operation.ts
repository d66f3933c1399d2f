import type { Static, TObject, TSchema } from 'typebox';
import type { Permission } from '../../core/people/key.ts';
import type { Right } from '../../core/people/member.ts';

/**
 * One operation of the public API, declared once. Routes use it for validation and types, the
 * client for types. The OpenAPI document and the reference page are generated from it.
 */
export interface Endpoint {
  /** Unique operation name in camelCase. */
  readonly id: string;
  readonly method: Method;
  /**
   * In OpenAPI syntax: `/api/v1/agents/{agentId}`. `shared.ts` describes the parameters in braces.
   */
  readonly path: `/${string}`;
  /** One line, imperative, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly auth: Auth;
  /**
   * Right that a session needs, if it differs from the key's. `null`: sessions are not accepted.
   */
  readonly session?: Right | null;
  /** A key with this permission may also access executions and workflow runs that it started. */
  readonly ownPermission?: Permission;
  /** A key with this permission may also call it. */
  readonly orPermission?: Permission;
  /** Reading the status of something that a call has started, or canceling it: no limit counts it. */
  readonly unlimited?: true;
  readonly query?: TObject;
  /** Request headers beyond the standard ones. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** Media types of the body, which the handler reads as a stream. Default: JSON, which is parsed and validated. */
  readonly consumes?: readonly string[];
  /** A missing body is equivalent to `{}`. */
  readonly bodyOptional?: true;
  /**
   * Response bodies by status; `null` means no body. `responsesOf` adds the statuses that follow
   * from the declaration (400, 401, 403, 412, 413, 415, 429, 500, 503).
   */
  readonly responses: Readonly<Record<number, TSchema | null>>;
  /** Headers of the success response. Rate limit headers are also sent with errors. */
  readonly responseHeaders?: readonly ResponseHeader[];
  /** Describes the 200 that it sends instead to clients that accept `text/event-stream`; none by default. */
  readonly streamed?: string;
  /** Media types of the success response. Default: JSON. */
  readonly produces?: readonly string[];
}

/** Preserves the literal types of a declaration for the types below. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const tags = [
  'Executions',
  'Batches',
  'OpenAI API',
  'Agents',
  'Prompts',
  'Workflows',
  'Declaration',
  'Events',
  'Keys',
  'Usage',
  'Budgets',
  'Tools',
  'Providers',
  'Members',
  'Retention',
  'Audit',
  'System',
] as const;
export type Tag = (typeof tags)[number];

/**
 * Who may call. A permission: a key with that permission, or a session with that right. `session`:
 * sessions only. `none`: anyone.
 */
export type Auth = 'none' | Permission | 'session';

export type ResponseHeader =
  | 'Content-Disposition'
  | 'Cueline-Data-As-Of'
  | 'ETag'
  | 'Idempotent-Replayed'
  | 'Location'
  | 'RateLimit'
  | 'Retry-After';

/**
 * Whether the server parses the body, if only to reject it. A body on GET and DELETE has no
 * meaning, but some clients send one.
 */
export function parsesBody({ method }: Pick<Endpoint, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/**
 * Whether the limit of management calls counts it: every call with a caller that has no limit of its own and is not
 * exempt.
 */
export function isManagement({ auth, unlimited, responses }: Endpoint): boolean {
  return auth !== 'none' && !unlimited && !(429 in responses);
}

/** Right that a key needs. `null` if keys are not accepted or no right is needed. */
export function keyRight(e: Endpoint): Right | null {
  return e.auth === 'none' || e.auth === 'session' ? null : e.auth;
}

/** Right that a session needs. `null` if sessions are not accepted or no right is needed. */
export function sessionRight(e: Endpoint): Right | null {
  if (e.auth === 'none') return null;
  if (e.session !== undefined) return e.session;
  return keyRight(e) ?? 'read';
}

/**
 * Path parameters, always strings and never validated: a malformed identifier is treated as
 * unknown.
 */
export type Params<E extends Endpoint> = { readonly [Name in InBraces<E['path']>]: string };

/** The stored forms of the identifiers in the path. A malformed one becomes one that nothing has. */
export type Ids<E extends Endpoint> = {
  readonly [Name in Extract<InBraces<E['path']>, `${string}Id`>]: string;
};

type InBraces<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | InBraces<Rest>
  : never;

/** Query as the handler receives it: numbers and booleans are parsed, defaults are not applied. */
export type Query<E extends Endpoint> = E extends { readonly query: infer Q extends TSchema }
  ? Static<Q>
  : Record<never, never>;

export type Body<E extends Endpoint> = E extends { readonly body: infer B extends TSchema }
  ? Static<B>
  : undefined;

/**
 * Body of the response with that status. Default: of every success response; `null` without a body.
 */
export type ResponseBody<E extends Endpoint, Status extends number = SuccessStatus> = {
  [S in keyof E['responses'] & Status]: E['responses'][S] extends TSchema
    ? Static<E['responses'][S]>
    : null;
}[keyof E['responses'] & Status];

const successStatuses = [200, 201, 202, 204] as const;
type SuccessStatus = (typeof successStatuses)[number];

/** The only status of success, and the schema of its body; `null` without one. */
export function successOf({ id, responses }: Endpoint): [SuccessStatus, TSchema | null] {
  const status = successStatuses.find((one) => one in responses);
  if (status === undefined) throw new Error(`${id} declares no success`);
  return [status, responses[status] ?? null];
}
