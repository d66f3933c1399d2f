import { collectResponse } from '../src/core/model/model-events.ts';
import {
  type Emit,
  type ModelCall,
  ModelFailure,
  type ModelSetup,
} from '../src/core/model/model-port.ts';
import type { ProviderSettings } from '../src/models/connection/settings.ts';
import { createModels, type ModelsOptions } from '../src/models/registry.ts';
import type { FakeProvider } from './fake-provider.ts';
import { openUnsealed, unsealed } from './setups.ts';

type AskOptions = Partial<ModelCall & ModelSetup & ModelsOptions & { readonly onEvent: Emit }>;

const hour = 3_600_000;

/** One call of a model at the fake provider, by a provider of the given kind. */
export async function askModel(
  fake: Pick<FakeProvider, 'host' | 'url'>,
  settings: Partial<ProviderSettings> = {},
  { price = null, onEvent = () => {}, ...more }: AskOptions = {},
) {
  const models = createModels({ open: openUnsealed, env: {}, allowedHosts: [fake.host], ...more });
  const stored: ProviderSettings = {
    ...{ name: 'fake', kind: 'openai-compatible', apiKey: 'topsecret-0123456789' },
    baseURL: fake.url,
    ...settings,
  };
  try {
    const call = {
      ...{ executionId: 'exe', workspaceId: 'wsp', model: 'fake/m', system: null, user: 'hello' },
      ...{ temperature: null, maxTokens: null, topP: null, timeoutMs: hour, called: false },
      setup: { provider: unsealed(stored), price },
      signal: new AbortController().signal,
      ...more,
    };
    return await collectResponse(models, call, onEvent);
  } finally {
    await models.close();
  }
}

/** The failure of such a call. */
export async function failedModel(...args: Parameters<typeof askModel>): Promise<ModelFailure> {
  const result = await askModel(...args).catch((error: unknown) => error);
  if (result instanceof ModelFailure) return result;
  throw new Error('The call did not fail as a model call fails.', { cause: result });
}
