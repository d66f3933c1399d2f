import { type Static, Type } from 'typebox';
import { executionErrorCodes } from '../../core/failure.ts';
import { providerKinds } from '../../core/model/provider.ts';
import { modelSettings } from '../agents/agent-record.ts';
import { endpoint } from '../endpoint.ts';
import * as limits from '../limits.ts';
import { patterns } from '../patterns.ts';
import { problems } from '../problem.ts';
import { body, nullable, oneOf, query, time } from '../shared.ts';

const tag = 'Providers';

const kind = oneOf(providerKinds, 'Which interface it speaks.');

export const Provider = Type.Object(
  {
    name: Type.String({ description: 'What stands before the slash of a model.' }),
    kind,
    baseURL: nullable(Type.String(), "`null` is the kind's own address."),
    hasApiKey: Type.Boolean({ description: 'Whether a credential is stored; it is never shown.' }),
    createdAt: time('When it was configured.'),
    updatedAt: time('When it last changed.'),
  },
  { title: 'Provider' },
);
export type Provider = Static<typeof Provider>;

export const putProvider = endpoint({
  id: 'putProvider',
  method: 'PUT',
  path: '/api/v1/providers/{name}',
  summary: 'Configure a provider',
  description:
    'Replaces all of it, the credential included. A name has 1 to 64 letters, digits, dots, dashes and underscores; `cueline` is taken. `baseURL` must not lead to a private address unless the server allows that one.',
  tag,
  auth: 'owner',
  body: body('ProviderInput', {
    kind,
    apiKey: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: limits.secretMax,
        writeOnly: true,
        description:
          'Stored encrypted. For `bedrock` an API key of its own, or `ACCESS_KEY_ID:SECRET_ACCESS_KEY`.',
      }),
    ),
    baseURL: Type.Optional(
      nullable(
        Type.String({
          maxLength: limits.urlMax,
          pattern: patterns.url.source,
          description:
            "Left out, the kind's own address. `azure` and `openai-compatible` need one; that of `bedrock` names the region.",
        }),
      ),
    ),
  }),
  answers: { 200: Provider },
});

export const listProviders = endpoint({
  id: 'listProviders',
  method: 'GET',
  path: '/api/v1/providers',
  summary: 'List the configured providers',
  tag,
  auth: 'manage',
  session: 'read',
  answers: {
    200: Type.Object({ providers: Type.Array(Provider) }, { title: 'ProviderList' }),
  },
});

export const getProvider = endpoint({
  id: 'getProvider',
  method: 'GET',
  path: '/api/v1/providers/{name}',
  summary: 'Read a provider',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Provider, ...problems(404) },
});

export const deleteProvider = endpoint({
  id: 'deleteProvider',
  method: 'DELETE',
  path: '/api/v1/providers/{name}',
  summary: 'Remove a provider and its credential',
  tag,
  auth: 'owner',
  answers: { 204: null, ...problems(404) },
});

/** What a program branches on is `ok`; the schema says what stands beside it. */
export const ConnectionTest = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether it was reached and took the credential.' }),
    latencyMs: Type.Optional(
      Type.Integer({ minimum: 0, description: 'How long that took; only where `ok`.' }),
    ),
    error: Type.Optional(
      Type.Object(
        {
          code: oneOf(executionErrorCodes, 'What a run would fail with.'),
          message: Type.String({ description: "What is wrong, often in the provider's words." }),
        },
        { description: 'Only where not `ok`.' },
      ),
    ),
  },
  { title: 'ConnectionTest' },
);
export type ConnectionTest = Static<typeof ConnectionTest>;

export const testProvider = endpoint({
  id: 'testProvider',
  method: 'POST',
  path: '/api/v1/providers/{name}/test',
  summary: 'Test the connection to a provider',
  description:
    'Asks the provider for its list of models with the stored credential, for at most ten seconds. No model runs, no AI Action is spent. 200 also where the test fails: `ok` says which.',
  tag,
  auth: 'owner',
  answers: { 200: ConnectionTest, ...problems(404) },
});

const amount = (description: string) =>
  Type.String({ pattern: patterns.price.source, description, examples: ['2.50'] });

export const Price = Type.Object(
  {
    model: Type.String({ description: 'As `provider/model`.' }),
    inputPerMillion: amount('US dollars for a million input tokens.'),
    outputPerMillion: amount('US dollars for a million output tokens.'),
    cacheReadPerMillion: nullable(amount('For input read from a cache; `null` is as input.')),
    cacheWritePerMillion: nullable(amount('For input written to a cache; `null` is as input.')),
    updatedAt: time('When it was set.'),
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
  id: 'listPrices',
  method: 'GET',
  path: '/api/v1/prices',
  summary: "List the workspace's own prices",
  description: 'They come before the price table that Cueline brings.',
  tag,
  auth: 'manage',
  session: 'read',
  answers: { 200: Type.Object({ prices: Type.Array(Price) }, { title: 'PriceList' }) },
});

export const putPrice = endpoint({
  id: 'putPrice',
  method: 'PUT',
  path: '/api/v1/prices',
  summary: 'Set the price of a model',
  description: 'For runs that end from now on. Decimal texts are kept exactly.',
  tag,
  auth: 'owner',
  body: body('PriceInput', {
    model: modelSettings.model,
    inputPerMillion: amountInput('US dollars for a million input tokens.'),
    outputPerMillion: amountInput('US dollars for a million output tokens.'),
    cacheReadPerMillion: optionalAmount('For input read from a cache; left out, as input.'),
    cacheWritePerMillion: optionalAmount('For input written to a cache; left out, as input.'),
  }),
  answers: { 200: Price },
});

export const deletePrice = endpoint({
  id: 'deletePrice',
  method: 'DELETE',
  path: '/api/v1/prices',
  summary: "Remove the workspace's own price of a model",
  tag,
  auth: 'owner',
  query: query({ model: modelSettings.model }),
  answers: { 204: null, ...problems(404) },
});
