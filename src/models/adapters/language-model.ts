import { ModelFailure } from '../../core/model/model-port.ts';
import type { ProviderKind } from '../../core/model/provider.ts';
import { hasOnlyChat } from '../connection/azure.ts';
import { withChain } from '../connection/chain-tokens.ts';
import type { Connection } from '../connection/provider-connection.ts';
import { isOwnOllamaAPI, missing } from '../connection/settings.ts';
import { signRequests } from '../connection/sign-aws.ts';
import type { RequestForm } from '../port/adjustment.ts';
import type { CallOptions, LanguageModel, Live, Model, ReadableModel } from '../port/model.ts';
import { addChatFields, withChatFields } from '../request/chat-fields.ts';
import { extendRequests } from '../request/extend-request.ts';
import { sendMarkedFiles } from '../request/marked-files.ts';
import { fetchInForm } from '../request/request-form.ts';
import { streamRequests } from '../response/stream-request.ts';
import { countChat, countGoogle, countResponses } from '../response/usage.ts';
import { speakOllama } from './ollama.ts';

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
  /** For responses that are streamed. */
  streamedFetch = fetch,
): Promise<ReadableModel> {
  checkModelPath(connection.kind, model);
  const createModel = modelFactories[connection.kind];
  const form: RequestForm = new Set();
  const createWith = (fetch: typeof globalThis.fetch, live?: Live) =>
    createModel(
      connection,
      model,
      fetchInForm(transport(connection, fetch, form, live), form),
      form,
    );
  const ready: ReadableModel = {
    ...(await createWith(fetch)),
    form,
    kind: connection.kind,
    name: optionsName(connection),
    readResponse: async (response, options, received = form) => {
      const { language } = await createModel(connection, model, async () => response, received);
      return language.doGenerate(options);
    },
    streaming: async (live) => ({ ...ready, ...(await createWith(streamedFetch, live)) }),
  };
  return ready;
}

/** Everything that happens to a request after its form is decided. */
function transport(
  connection: Connection,
  fetch: typeof globalThis.fetch,
  form: RequestForm,
  live?: Live,
): typeof fetch {
  const extended = extendRequests(sendMarkedFiles(authorized(connection, fetch)), connection);
  const streamed = live ? streamRequests(extended, live, form) : extended;
  return isOwnOllamaAPI(connection) ? speakOllama(streamed) : streamed;
}

function authorized(connection: Connection, fetch: typeof globalThis.fetch): typeof fetch {
  if (connection.auth === 'chain') return withChain(fetch, connection);
  return connection.kind === 'bedrock' ? signedIfKeys(connection, fetch) : fetch;
}

function signedIfKeys(
  { name, apiKey, baseURL }: Connection,
  fetch: typeof globalThis.fetch,
): typeof fetch {
  const [accessKeyId = '', secretAccessKey, sessionToken] = apiKey?.split(':') ?? [];
  if (secretAccessKey === undefined) return fetch;
  const region = /\bbedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseURL)?.[1];
  if (!region) {
    throw missing(
      name,
      'the host must be bedrock-runtime.REGION.…, because requests are signed for a region',
    );
  }
  const keys = { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  return signRequests(fetch, region, async () => keys);
}

type ModelFactory = (
  connection: Connection,
  model: string,
  fetch: typeof globalThis.fetch,
  form: RequestForm,
) => Promise<CreatedModel>;

type CreatedModel = Omit<Model, 'form' | 'kind' | 'name'>;

const modelFactories: Readonly<Record<ProviderKind, ModelFactory>> = {
  openai: async ({ apiKey, baseURL }, model, fetch, form) => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    const provider = createOpenAI({ apiKey: apiKey ?? '', baseURL, fetch: addChatFields(fetch) });
    const chat = withChatFields(provider.chat(model));
    return responsesOrChat(provider.responses(model), chat, form, isVendor(baseURL));
  },
  azure: async ({ apiKey, baseURL }, model, fetch, form) => {
    if (hasOnlyChat(baseURL)) return azureChat(apiKey, baseURL, model, fetch);
    const { createAzure } = await import('@ai-sdk/azure');
    const provider = createAzure({ apiKey: apiKey ?? '', baseURL, fetch: addChatFields(fetch) });
    const chat = withChatFields(provider.chat(model));
    return responsesOrChat(provider.responses(model), chat, form, isVendor(baseURL));
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
  bedrock: async ({ apiKey, baseURL }, model, fetch) => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    // A key pair is not sent: `transport` replaces this header by a signature.
    const isPair = !apiKey || apiKey.includes(':');
    const bearer = isPair ? 'signed' : apiKey;
    return { language: createAmazonBedrock({ apiKey: bearer, baseURL, fetch })(model) };
  },
  ollama: compatible,
  'openai-compatible': compatible,
};

/** The package for Azure would add to the path. */
async function azureChat(
  apiKey: string | null,
  baseURL: string,
  model: string,
  fetch: typeof globalThis.fetch,
): ReturnType<ModelFactory> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const withKey: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete('authorization');
    headers.set('api-key', apiKey ?? '');
    return fetch(input, { ...init, headers });
  };
  const provider = createOpenAI({
    apiKey: '',
    baseURL,
    name: 'azure',
    fetch: addChatFields(withKey),
  });
  return { language: withChatFields(provider.chat(model)), count: countChat };
}

/**
 * The Responses API at the vendor's own address, until the model turns out to be only in chat completions. Elsewhere the
 * reverse, because most servers have only those. `request-form.ts` notices.
 */
function responsesOrChat(
  responses: LanguageModel,
  chat: LanguageModel,
  form: RequestForm,
  isVendors: boolean,
): CreatedModel {
  const isChat = () => form.has('chat') || !(isVendors || form.has('responses'));
  return {
    language: {
      specificationVersion: responses.specificationVersion,
      get provider() {
        return (isChat() ? chat : responses).provider;
      },
      modelId: responses.modelId,
      get supportedUrls() {
        return isChat() ? chat.supportedUrls : responses.supportedUrls;
      },
      doGenerate: (options) =>
        isChat() ? chat.doGenerate(withoutStore(options)) : responses.doGenerate(options),
      doStream: (options) =>
        isChat() ? chat.doStream(withoutStore(options)) : responses.doStream(options),
    },
    providerOptions: unstored,
    mayRespond: !isVendors,
    count: (usage) => (isChat() ? countChat(usage) : countResponses(usage)),
  };
}

/** Chat completions are not stored unless asked, and models of other vendors reject the field. */
function withoutStore({ providerOptions = {}, ...options }: CallOptions): CallOptions {
  const cleaned = Object.entries(providerOptions).map(([name, { store, ...rest }]) => [
    name,
    store ? { store, ...rest } : rest,
  ]);
  return { ...options, providerOptions: Object.fromEntries(cleaned) };
}

async function compatible(
  connection: Connection,
  model: string,
  fetch: typeof globalThis.fetch,
): ReturnType<ModelFactory> {
  const { kind, apiKey, baseURL } = connection;
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: optionsName(connection),
    baseURL,
    ...(apiKey ? { apiKey } : {}),
    fetch,
    supportsStructuredOutputs: true,
    // Ollama takes no URLs, whichever of its APIs is called.
    supportedUrls: (): Record<string, RegExp[]> =>
      kind === 'ollama' ? {} : { 'image/*': [/^https:/] },
  });
  return { language: provider(model), count: countChat };
}

/** The key of a compatible server's provider options. */
function optionsName({ kind, name }: Connection): string {
  return kind === 'ollama' ? 'ollama' : name;
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

/**
 * Throws `MODEL_NOT_FOUND` if the model name would lead a call to another URL. Some kinds have the name in the path,
 * and someone who may choose an agent's model may not choose where the owner's credential is sent.
 */
function checkModelPath(kind: ProviderKind, model: string): void {
  if (!inPath.has(kind) || !unsafePath.test(model)) return;
  const message = `No model of kind ${kind} has a name like '${model}': it would change the path.`;
  throw new ModelFailure('MODEL_NOT_FOUND', message);
}

const inPath: ReadonlySet<ProviderKind> = new Set(['google', 'bedrock']);

/** Characters that end a path or are read as a slash or a dot, and path segments that are empty, `.` or `..`. */
const unsafePath = /[?#%\\]|(^|\/)\.{0,2}(\/|$)/;
