import type { Operations } from './wire.ts';

/** Operations by route. An unknown route, field or response is a compile error. */
export type Route = keyof Operations;

/** Input of an operation: path parameters, query and body. */
export type Input<R extends Route> = InputOf<Operations[R]>;

type InputOf<O extends { readonly params: object }> = (keyof O['params'] extends never
  ? { readonly params?: undefined }
  : { readonly params: O['params'] }) &
  (O extends { readonly query: infer Q }
    ? { readonly query?: Q }
    : { readonly query?: undefined }) &
  (O extends { readonly body: infer B } ? { readonly body: B } : { readonly body?: undefined });

/** Response body. `null` without a body. */
export type Output<R extends Route> = Operations[R]['response'];

export type QueryOf<R extends Route> = Operations[R] extends { readonly query: infer Q }
  ? Q
  : Record<never, never>;
export type BodyOf<R extends Route> = Operations[R] extends { readonly body: infer B }
  ? B
  : undefined;
