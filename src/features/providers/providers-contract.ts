import { type Static, Type } from 'typebox';
import { executionErrorCodes } from '../../core/failure.ts';
import { providerAuths, providerKinds } from '../../core/model/provider.ts';
import * as limits from '../../http/contract/contract-limits.ts';
import { endpoint } from '../../http/contract/operation.ts';
import { patterns } from '../../http/contract/patterns.ts';
import { problems } from '../../http/contract/problem.ts';
import { body, nullable, oneOf, query, time } from '../../http/contract/shared.ts';
import { modelSettings } from '../prompts/contract/model-settings-contract.ts';

const tag = 'Providers';
const readable = {
  method: 'GET',
  tag,
  auth: 'manage',
  orPermission: 'own',
  session: 'read',
} as const;
const managed = { tag, auth: 'own' } as const;

const kind = oneOf(
  providerKinds,
  'Protocol of the provider. `ollama` uses chat completions at a `baseURL` that ends in `/v1`, else its own API.',
);

const names = (description: string) => Type.Array(Type.String(), { description });

/** Texts by name, such as headers. They are stored encrypted and never returned. */
const secretTexts = (maxProperties: number, description: string) =>
  Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      additionalProperties: { type: 'string', minLength: 1, maxLength: limits.secretMax },
      maxProperties,
      writeOnly: true,
      description,
    }),
  );

const openAIHeader = (description: string) =>
  Type.Optional(nullable(Type.String({ minLength: 1, maxLength: limits.nameMax, description })));

export const Provider = Type.Object(
  {
    name: Type.String({ description: 'The part of a model before the slash.' }),
    kind,
    baseURL: nullable(Type.String(), '`null`: the default URL of the kind.'),
    hasApiKey: Type.Boolean({
      description: 'Whether a credential is stored. It is never returned.',
    }),
    headerNames: names('Names of the additional headers. Their values are never returned.'),
    queryNames: names('Names of the additional query parameters, likewise.'),
    bodyExtraNames: names('Names of the additional fields of the request body, likewise.'),
    organization: nullable(Type.String(), 'Sent as `OpenAI-Organization`.'),
    project: nullable(
      Type.String(),
      'Sent as `OpenAI-Project`. With `auth`, the project at Google Cloud.',
    ),
    auth: nullable(oneOf(providerAuths), '`null`: the API key.'),
    createdAt: time('Time of creation.'),
    updatedAt: time('Time of the last change.'),
  },
  { title: 'Provider' },
);
export type Provider = Static<typeof Provider>;

export const putProvider = endpoint({
  ...managed,
  id: 'putProvider',
  method: 'PUT',
  path: '/api/v1/providers/{name}',
  summary: 'Configure a provider',
  description:
    'Replaces the whole configuration, including the credential. A name has 1 to 64 letters, digits, dots, dashes and underscores; `cueline` is reserved. `baseURL` must be https at a public address, unless the server allows the host, without user, query or fragment; a pasted `…/chat/completions`, `…/messages` or `…/responses` is reduced to its base, and `Bearer ` before an `apiKey` is removed. A missing `apiKey` (with neither `headers` nor `query`) fails executions with `PROVIDER_NOT_CONFIGURED`.',
  body: body('ProviderInput', {
    kind,
    apiKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.secretMax,
        writeOnly: true,
        description:
          'Stored encrypted. For `bedrock`: a Bedrock API key, or `ACCESS_KEY_ID:SECRET_ACCESS_KEY`.',
      }),
    ),
    baseURL: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.urlMax,
          pattern: patterns.url.source,
          description:
            'Default: the URL of the kind; for `ollama`, that of the server. Required for `azure` and `openai-compatible`. For `bedrock` it selects the region (`us-east-1`).',
        }),
      ),
    ),
    headers: secretTexts(
      limits.headersMax,
      'Additional headers of each request, in place of a header of the same name. The header of the `apiKey` (`Authorization`; `x-api-key` for `anthropic`, `x-goog-api-key` for `google`, `api-key` for `azure`) is allowed only without an `apiKey`, whose place it then takes. Headers of the connection and of the body, such as `Host`, `Content-Type` and `Proxy-…`, are not allowed.',
    ),
    query: secretTexts(limits.queryMax, 'Additional query parameters of each request.'),
    bodyExtra: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        writeOnly: true,
        description:
          'Merged into the JSON body of each call, objects field by field; it overrides what Cueline sends. Not allowed: `model` and the fields that hold the prompt.',
      }),
    ),
    organization: openAIHeader(
      'Sent as `OpenAI-Organization`. For `openai`, `azure` and `openai-compatible`.',
    ),
    project: openAIHeader(
      'Sent as `OpenAI-Project`. For the same kinds. For `google` with `auth`: the project at Google Cloud.',
    ),
    auth: Type.Optional(
      nullable(
        oneOf(providerAuths),
        "`chain`: the server's own cloud identity instead of an API key, for `bedrock`, `google` and `azure`, in workspaces that the operator names.",
      ),
    ),
  }),
  responses: { 200: Provider, ...problems(409) },
});

export const listProviders = endpoint({
  ...readable,
  id: 'listProviders',
  path: '/api/v1/providers',
  summary: 'List the configured providers',
  responses: {
    200: Type.Object(
      {
        providers: Type.Array(Provider),
        environment: Type.Array(Type.Object({ name: Type.String(), kind }), {
          description:
            "Providers with a credential in the server's environment, for all workspaces. One of the workspace with the same name takes precedence.",
        }),
      },
      { title: 'ProviderList' },
    ),
  },
});

export const getProvider = endpoint({
  ...readable,
  id: 'getProvider',
  path: '/api/v1/providers/{name}',
  summary: 'Get a provider',
  responses: { 200: Provider, ...problems(404) },
});

export const deleteProvider = endpoint({
  ...managed,
  id: 'deleteProvider',
  method: 'DELETE',
  path: '/api/v1/providers/{name}',
  summary: 'Delete a provider and its credential',
  responses: { 204: null, ...problems(404) },
});

const sentHeaders = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
});
const httpBody = Type.Unknown({ description: 'JSON as a value, anything else as text.' });

const ProviderFailure = Type.Object(
  {
    code: oneOf(executionErrorCodes, 'Error code that an execution would have.'),
    message: Type.String({ description: 'What is wrong, often as worded by the provider.' }),
  },
  { description: 'Present only if it failed.' },
);

/** Programs branch on `ok`; the schema states which fields accompany it. */
export const ConnectionTest = Type.Object(
  {
    ok: Type.Boolean({
      description: 'Whether the provider was reachable and accepted the credential.',
    }),
    latencyMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Duration of the test. Present if `ok`, and if a model was to be called.',
      }),
    ),
    request: Type.Optional(
      nullable(
        Type.Object({
          method: Type.String(),
          url: Type.String(),
          headers: sentHeaders,
          body: httpBody,
        }),
        'The call of a model as it was sent, with secrets removed. `null` if nothing was sent.',
      ),
    ),
    answer: Type.Optional(
      nullable(
        Type.Object({ status: Type.Integer(), headers: sentHeaders, body: httpBody }),
        "The provider's response, likewise. `null` if there was none.",
      ),
    ),
    error: Type.Optional(ProviderFailure),
  },
  { title: 'ConnectionTest' },
);
export type ConnectionTest = Static<typeof ConnectionTest>;

export const testProvider = endpoint({
  ...managed,
  id: 'testProvider',
  method: 'POST',
  path: '/api/v1/providers/{name}/test',
  summary: 'Test the connection to a provider',
  description:
    'Requests the list of models with the stored credential, for at most ten seconds. With a `model`, sends one small real call instead, for at most 30 seconds, and returns the request and the answer with secrets removed. Is no execution and uses no AI Action. A list that the provider shows to anyone proves no credential; for `bedrock`, a model that does not exist is called. An answer that its limit of 64 tokens cut off counts as `ok`. The status is 200 even if the test fails: check `ok`.',
  body: body('ConnectionTestInput', {
    model: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.modelMax,
        description:
          'The model to call: `provider/model` as agents have it, or the part after the slash.',
      }),
    ),
  }),
  bodyOptional: true,
  responses: { 200: ConnectionTest, ...problems(404) },
});

export const listProviderModels = endpoint({
  id: 'listProviderModels',
  method: 'GET',
  path: '/api/v1/providers/{name}/models',
  summary: "List a provider's models",
  description:
    'Asks the provider, for at most ten seconds, with the credential of the workspace or of the server. At most 1,000 names; empty if the provider has no list (`bedrock`, `google` with `auth`). The status is 200 even if the provider fails: check `error`.',
  tag,
  auth: 'manage',
  responses: {
    200: Type.Object(
      {
        models: Type.Array(Type.String({ description: 'Format: `provider/model`.' })),
        error: Type.Optional(ProviderFailure),
      },
      { title: 'ProviderModels' },
    ),
    ...problems(404),
  },
});

const amount = (description: string) =>
  Type.String({ pattern: patterns.price.source, description, examples: ['2.50'] });

const priceFields = {
  model: Type.String({ description: 'Format: `provider/model`.' }),
  inputPerMillion: amount('US dollars per million input tokens.'),
  outputPerMillion: amount('US dollars per million output tokens.'),
  cacheReadPerMillion: nullable(
    amount('US dollars per million input tokens read from a cache. `null`: the input price.'),
  ),
  cacheWritePerMillion: nullable(
    amount('US dollars per million input tokens written to a cache. `null`: the input price.'),
  ),
};

export const Price = Type.Object(
  {
    ...priceFields,
    validFrom: time(
      'Since when it has these amounts. Records of earlier executions keep what they were charged, and say with which price.',
    ),
    updatedAt: time('Time when it was last set.'),
  },
  { title: 'Price' },
);
export type Price = Static<typeof Price>;

const amountInput = (description: string) =>
  Type.Unsafe<string | number>({
    type: ['string', 'number'],
    pattern: patterns.price.source,
    maxLength: limits.priceTextMax,
    minimum: 0,
    maximum: limits.pricePerMillionMax,
    description,
    examples: ['2.50', 2.5],
  });

const optionalAmount = (description: string) =>
  Type.Optional(
    Type.Unsafe<string | number | null>({
      ...amountInput(description),
      type: ['string', 'number', 'null'],
    }),
  );

export const listPrices = endpoint({
  ...readable,
  id: 'listPrices',
  path: '/api/v1/prices',
  summary: "List the workspace's own prices",
  description: "They take precedence over Cueline's built-in price table.",
  query: query({
    provider: Type.Optional(
      Type.String({
        description: 'A provider of the workspace or of the environment, to list `builtIn` too.',
      }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        prices: Type.Array(Price),
        builtIn: Type.Optional(
          Type.Array(Type.Object(priceFields), {
            description:
              'What the built-in table says for models of `provider` now, for short prompts where it has tiers. Empty if it has none. Only with `provider`.',
          }),
        ),
      },
      { title: 'PriceList' },
    ),
    ...problems(404),
  },
});

export const putPrice = endpoint({
  ...managed,
  id: 'putPrice',
  method: 'PUT',
  path: '/api/v1/prices',
  summary: 'Set the price of a model',
  description: 'Applies to executions that start from now on. Decimal strings are stored exactly.',
  body: body('PriceInput', {
    model: modelSettings.model,
    inputPerMillion: amountInput('US dollars per million input tokens.'),
    outputPerMillion: amountInput('US dollars per million output tokens.'),
    cacheReadPerMillion: optionalAmount(
      'US dollars per million input tokens read from a cache. Default: the input price.',
    ),
    cacheWritePerMillion: optionalAmount(
      'US dollars per million input tokens written to a cache. Default: the input price.',
    ),
  }),
  responses: { 200: Price },
});

export const deletePrice = endpoint({
  ...managed,
  id: 'deletePrice',
  method: 'DELETE',
  path: '/api/v1/prices',
  summary: "Delete the workspace's own price of a model",
  query: query({ model: modelSettings.model }),
  responses: { 204: null, ...problems(404) },
});
