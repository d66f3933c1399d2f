import type { Operations } from './wire.ts';

/** The operations by their routes: a route, field or answer that does not exist fails to compile. */
export type Route = keyof Operations;

/** What a call sends: the path's parameters, the query and the body, as far as the operation has them. */
export type Input<R extends Route> = InputOf<Operations[R]>;

type InputOf<O extends { readonly params: object }> = (keyof O['params'] extends never
  ? { readonly params?: undefined }
  : { readonly params: O['params'] }) &
  (O extends { readonly query: infer Q }
    ? { readonly query?: Q }
    : { readonly query?: undefined }) &
  (O extends { readonly body: infer B } ? { readonly body: B } : { readonly body?: undefined });

/** What a call answers; `null` where it has no body. */
export type Output<R extends Route> = Operations[R]['answer'];

export type QueryOf<R extends Route> = Operations[R] extends { readonly query: infer Q }
  ? Q
  : Record<never, never>;
export type BodyOf<R extends Route> = Operations[R] extends { readonly body: infer B }
  ? B
  : undefined;
