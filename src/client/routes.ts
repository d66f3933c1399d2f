import type { Operations } from './wire.ts';

/** Types of operations. An unknown operation, field or response is a compile error. */

export type OperationId = keyof Operations;

/** Operations by method and path, for example `GET /api/v1/agents/{agentId}`. */
export type Routes = { [Id in OperationId as Operations[Id]['route']]: Operations[Id] };
export type Route = keyof Routes;

/** Input of an operation: path parameters, query and body. */
export type Input<R extends Route> = InputOf<Routes[R]>;

type InputOf<O extends { readonly params: object }> = (keyof O['params'] extends never
  ? { readonly params?: undefined }
  : { readonly params: O['params'] }) &
  (O extends { readonly query: infer Q }
    ? { readonly query?: Q }
    : { readonly query?: undefined }) &
  (O extends { readonly body: infer B } ? { readonly body: B } : { readonly body?: undefined });

/** Response body. `null` without a body. */
export type Output<Id extends OperationId> = Operations[Id]['response'];

export type QueryOf<Id extends OperationId> = Operations[Id] extends { readonly query: infer Q }
  ? Q
  : Record<never, never>;
export type BodyOf<Id extends OperationId> = Operations[Id] extends { readonly body: infer B }
  ? B
  : undefined;
