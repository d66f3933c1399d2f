import { type PathArguments, paths } from './operations.ts';
import {
  type CallOptions,
  type ChangeOptions,
  type ClientOptions,
  createOpenStream,
  createRequest,
  type OpenStream,
  type Request,
  type RequestOptions,
} from './request.ts';
import type { OperationId, Output, Route } from './routes.ts';
import type { Operations } from './wire.ts';

/**
 * Methods from operation ids. A method takes the path parameters in their order, then the query or
 * the body if the operation has one, then options. It returns the response, or one field of it.
 */

/** An operation, or a field of its response: `listAlerts.alerts`. */
export type Selection = {
  [Id in OperationId]: Id | `${Id}.${keyof Operations[Id]['response'] & string}`;
}[OperationId];

export type Method<S extends Selection, Options = OptionsOf<IdOf<S>>> = (
  ...call: [...InPath<Operations[IdOf<S>]['route']>, ...InputOf<IdOf<S>>, options?: Options]
) => S extends `${string}.${infer Field}`
  ? Promise<Output<IdOf<S>>[Field & keyof Output<IdOf<S>>]>
  : Output<S & OperationId> extends null
    ? Promise<void>
    : Promise<Output<S & OperationId>>;

/** Its constraint is no selection: compilers before 7 would take a minute to see that a part of one is one. */
type IdOf<S extends string> = S extends `${infer Id extends OperationId}.${string}`
  ? Id
  : S & OperationId;

type InPath<Path extends string> =
  Path extends `${string}{${infer Name extends keyof PathArguments}}${infer Rest}`
    ? [...PathArguments[Name], ...InPath<Rest>]
    : [];

type InputOf<Id extends OperationId> = Operations[Id] extends { readonly query: infer Query }
  ? [query?: Query]
  : Operations[Id] extends { readonly body: infer Body }
    ? [body: Body]
    : [];

type OptionsOf<Id extends OperationId> = Operations[Id] extends { readonly ifMatch: true }
  ? ChangeOptions
  : CallOptions;

/** Creates the method of an operation. */
export type PlainMethod = <S extends Selection>(selection: S) => Method<S>;
/** The same, with all options of a request. */
export type CreateMethod = <S extends Selection>(selection: S) => Method<S, RequestOptions>;

/** What the methods of a client send their requests with. */
export interface Connection {
  readonly client: ClientOptions;
  readonly request: Request;
  readonly open: OpenStream;
  readonly plain: PlainMethod;
  readonly method: CreateMethod;
}

export function connect(client: ClientOptions): Connection {
  const request = createRequest(client);
  const method = methodsOf(request);
  return { client, request, open: createOpenStream(client), plain: method, method };
}

export function methodsOf(request: Request): CreateMethod {
  return (selection) => {
    const [id = '', field] = selection.split('.');
    const { route, names, input } = operations.get(id) as Operation;
    const method = async (...call: unknown[]) => {
      const params = Object.fromEntries(names.map((name, index) => [name, call[index]]));
      const rest = call.slice(names.length);
      const sent = { params, ...(input && { [input]: rest.shift() ?? {} }) };
      const { body } = await request(route, sent as never, rest[0] as RequestOptions);
      return field === undefined ? (body ?? undefined) : body?.[field as never];
    };
    return method as never;
  };
}

interface Operation {
  readonly route: Route;
  /** Of the path parameters. */
  readonly names: readonly string[];
  /** `query` or `body`. */
  readonly input: string | undefined;
}

/** Operations by id. */
export const operations = new Map<string, Operation>(
  Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => {
      const [id = '', input] = operation.split(' ');
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      return [id, { route: `${method} ${path}` as Route, names, input }];
    }),
  ),
);
