import type { Answer, Body, Endpoint, Params, Query } from '../contract/endpoint.ts';
import type { EndpointId, Endpoints } from '../contract/index.ts';

/**
 * The operations by what goes over the wire, for example `GET /api/v1/agents/{agentId}`. Types only: the client
 * brings none of the contract's code with it, and a route, field or answer that does not exist fails to compile.
 */
type ByRoute = {
  [Id in EndpointId as `${Endpoints[Id]['method']} ${Endpoints[Id]['path']}`]: Endpoints[Id];
};

export type Route = keyof ByRoute;

/** What a call sends: the path's parameters, the query and the body, as far as the operation has them. */
export type Input<R extends Route> = InputOf<ByRoute[R]>;

type InputOf<E extends Endpoint> = (keyof Params<E> extends never
  ? { readonly params?: undefined }
  : { readonly params: Params<E> }) &
  (E extends { readonly query: unknown }
    ? { readonly query?: Query<E> }
    : { readonly query?: undefined }) &
  (E extends { readonly body: unknown }
    ? { readonly body: Body<E> }
    : { readonly body?: undefined });

/** What a call answers; `null` where it has no body. */
export type Output<R extends Route> = Answer<ByRoute[R]>;

export type QueryOf<R extends Route> = Query<ByRoute[R]>;
export type BodyOf<R extends Route> = Body<ByRoute[R]>;
