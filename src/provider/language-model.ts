import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { ProviderKind } from '../core/model/provider.ts';
import { checkModelPath } from './model-path.ts';
import { fetchInForm, type RequestForm } from './request-form.ts';
import { type Connection, missing } from './settings.ts';
import { type Counts, countChat, countGoogle } from './usage.ts';

/** A language model of the AI SDK, by the specification that its provider packages share. */
type LanguageModel = ReturnType<OpenAICompatibleProvider['languageModel']>;
export type CallOptions = Parameters<LanguageModel['doGenerate']>[0];

export interface Model {
  readonly kind: ProviderKind;
  /** The provider's own name, by which compatible servers get their options. */
  readonly name: string;
  readonly language: LanguageModel;
  readonly providerOptions?: CallOptions['providerOptions'];
  /** Reads the provider's own usage, because the AI SDK reports a missing count as 0. */
  readonly count?: (usage: unknown) => Counts;
  /** What the model rejected so far. */
  readonly form: RequestForm;
}

/** A model, and how the same model reads a response that was already received. */
export interface ReadableModel extends Model {
  readonly readResponse: (response: Response, options: CallOptions) => Promise<Answer>;
}

export type Answer = Awaited<ReturnType<LanguageModel['doGenerate']>>;

/**
 * The model of that name at that provider. Sends nothing.
 *
 * Every setting is passed explicitly, because a provider package reads missing ones from `process.env`: a workspace's
 * base URL would receive the server's key. Packages are loaded on first use; together they take half a second.
 */
export async function languageModel(
  connection: Connection,
  model: string,
  fetch: typeof globalThis.fetch,
): Promise<ReadableModel> {
  checkModelPath(connection.kind, model);
  const make = makers[connection.kind];
  const form: RequestForm = new Set();
  return {
    ...(await make(connection, model, fetchInForm(fetch, form))),
    form,
    kind: connection.kind,
    name: connection.name,
    readResponse: async (response, options) => {
      const { language } = await make(connection, model, async () => response);
      return language.doGenerate(options);
    },
  };
}

type Maker = (
  connection: Connection,
  model: string,
  fetch: typeof globalThis.fetch,
) => Promise<Omit<Model, 'form' | 'kind' | 'name'>>;

const makers: Readonly<Record<ProviderKind, Maker>> = {
  openai: async ({ apiKey, baseURL }, model, fetch) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey: apiKey ?? '', baseURL, fetch });
    return isVendor(baseURL)
      ? { language: provider.responses(model), providerOptions: unstored }
      : { language: provider.chat(model), count: countChat };
  },
  azure: async ({ apiKey, baseURL }, model, fetch) => {
    const { createAzure } = await import('@ai-sdk/azure');
    const provider = createAzure({ apiKey: apiKey ?? '', baseURL, fetch });
    return isVendor(baseURL)
      ? { language: provider.responses(model), providerOptions: unstored }
      : { language: provider.chat(model), count: countChat };
  },
  anthropic: async ({ apiKey, baseURL }, model, fetch) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return { language: createAnthropic({ apiKey: apiKey ?? '', baseURL, fetch })(model) };
  },
  google: async ({ apiKey, baseURL }, model, fetch) => {
    const { createGoogle } = await import('@ai-sdk/google');
    const provider = createGoogle({ apiKey: apiKey ?? '', baseURL, fetch });
    return { language: provider(model), count: countGoogle };
  },
  bedrock: async ({ name, apiKey, baseURL }, model, fetch) => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const [id = '', secret, sessionToken] = apiKey?.split(':') ?? [];
    if (secret === undefined) {
      return { language: createAmazonBedrock({ apiKey: id, baseURL, fetch })(model) };
    }
    const region = /\bbedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseURL)?.[1];
    if (!region)
      throw missing(
        name,
        'the host must be bedrock-runtime.REGION.…, because requests are signed for a region',
      );
    const keys = {
      accessKeyId: id,
      secretAccessKey: secret,
      ...(sessionToken && { sessionToken }),
    };
    // An empty API key keeps the package from reading one from the environment.
    return {
      language: createAmazonBedrock({ apiKey: '', region, ...keys, baseURL, fetch })(model),
    };
  },
  ollama: compatible,
  'openai-compatible': compatible,
};

async function compatible(
  { name, apiKey, baseURL }: Connection,
  model: string,
  fetch: typeof globalThis.fetch,
): ReturnType<Maker> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name,
    baseURL,
    ...(apiKey ? { apiKey } : {}),
    fetch,
    supportsStructuredOutputs: true,
  });
  return { language: provider(model), count: countChat };
}

/**
 * OpenAI and Azure themselves are called through the Responses API, which all their models support; any other base URL
 * (a gateway, another server) through chat completions, which all of those support.
 */
function isVendor(baseURL: string): boolean {
  return /(^|\.)(openai|azure)\.com$/.test(URL.parse(baseURL)?.hostname ?? '');
}

/** The Responses API stores every response for 30 days unless `store` is false. */
const unstored: CallOptions['providerOptions'] = { openai: { store: false } };
