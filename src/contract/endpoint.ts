import type { Static, TObject, TSchema } from 'typebox';
import type { Permission } from '../core/people/key.ts';
import type { Right } from '../core/people/member.ts';

/**
 * One operation of the public API, declared once: the routes validate and are typed by it, the client is typed by it,
 * the OpenAPI document and the reference page are made from it.
 */
export interface Endpoint {
  /** The operation's name in camelCase, unique. */
  readonly id: string;
  readonly method: Method;
  /** In OpenAPI's style: `/api/v1/agents/{agentId}`. What stands in braces is described in `shared.ts`. */
  readonly path: `/${string}`;
  /** One line, imperative, no full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly tag: Tag;
  readonly auth: Auth;
  /** The right that a session needs, where it is another than a key's; `null` where only a key will do. */
  readonly session?: Right | null;
  /** A key with this permission instead may reach what it started itself. */
  readonly ownWith?: Permission;
  readonly query?: TObject;
  /** Request headers beyond the usual ones. */
  readonly headers?: TObject;
  readonly body?: TSchema;
  /** Set where no body at all means the same as `{}`. */
  readonly bodyOptional?: true;
  /**
   * What is answered, by status; `null` is an answer without a body. The statuses that follow from the rest of the
   * declaration (400, 401, 413, 415, 500, 503) are added by `answersOf`.
   */
  readonly answers: Readonly<Record<number, TSchema | null>>;
  /** Headers of the good answer, and of the others as far as they are about limits. */
  readonly sends?: readonly ResponseHeader[];
  /** The media types that the good answer may have; JSON where absent. */
  readonly produces?: readonly string[];
}

/** Fixes the literal types of a declaration, which the types below read. */
export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const tags = [
  'Executions',
  'Agents',
  'Prompts',
  'Workflows',
  'Declaration',
  'Keys',
  'Usage',
  'Providers',
  'Members',
  'Retention',
  'Audit',
  'System',
] as const;
export type Tag = (typeof tags)[number];

/**
 * Who may call. A permission: a key that has it, or a session. `owner`: the session of an owner, or a key with
 * `manage` whose issuer is one now. `session`: no key will do. `none`: anyone.
 */
export type Auth = 'none' | Permission | 'owner' | 'session';

export type ResponseHeader =
  | 'Content-Disposition'
  | 'ETag'
  | 'Idempotent-Replayed'
  | 'Location'
  | 'RateLimit'
  | 'Retry-After';

/** Whether a body is looked at, be it only to refuse it. Of a GET and a DELETE none means anything, and some clients send one. */
export function readsBody({ method }: Pick<Endpoint, 'method'>): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** The right that a key needs; `null` where no key will do or none is needed. */
export function keyRight(e: Endpoint): Right | null {
  if (e.auth === 'none' || e.auth === 'session') return null;
  return e.auth === 'owner' ? 'own' : e.auth;
}

/** The right that a session needs; `null` where no session will do or none is needed. */
export function sessionRight(e: Endpoint): Right | null {
  if (e.auth === 'none') return null;
  if (e.session !== undefined) return e.session;
  return keyRight(e) ?? 'read';
}

/** The path parameters, all texts: a malformed identifier is an unknown one, so nothing validates them. */
export type Params<E extends Endpoint> = { readonly [Name in InBraces<E['path']>]: string };

type InBraces<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | InBraces<Rest>
  : never;

/** The query as the handler gets it: numbers and booleans read, nothing defaulted. */
export type Query<E extends Endpoint> = E extends { readonly query: infer Q extends TSchema }
  ? Static<Q>
  : Record<never, never>;

export type Body<E extends Endpoint> = E extends { readonly body: infer B extends TSchema }
  ? Static<B>
  : undefined;

/** The body of the answer with that status, else of every good one; `null` where it has none. */
export type Answer<E extends Endpoint, Status extends number = GoodStatus> = {
  [S in keyof E['answers'] & Status]: E['answers'][S] extends TSchema
    ? Static<E['answers'][S]>
    : null;
}[keyof E['answers'] & Status];

type GoodStatus = 200 | 201 | 202 | 204;
