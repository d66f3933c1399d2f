import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallSettings } from '../../src/core/agent/call-settings.ts';
import { emptySize } from '../../src/core/agent/prompt-size.ts';
import { callBound } from '../../src/core/model/call-bound.ts';
import type { Price } from '../../src/core/model/price.ts';
import type { ProviderKind } from '../../src/core/model/provider.ts';
import { createPriceLookup } from '../../src/models/price-lookup.ts';

const own: Price = {
  ...{ inputPerMillion: '1', outputPerMillion: '2' },
  ...{ cacheReadPerMillion: null, cacheWritePerMillion: '3' },
};

interface Options {
  readonly price?: Price | null;
  readonly settings?: CallSettings;
  readonly kind?: ProviderKind;
  readonly bodyExtra?: Record<string, unknown>;
}

function ratesOf(
  model: string,
  { price = null, settings = {}, kind, bodyExtra = {} }: Options = {},
) {
  const [name = ''] = model.split('/');
  const lookup = createPriceLookup({
    open: () => ({
      ...{ name, kind: kind ?? 'openai', apiKey: 'k' },
      baseURL: kind === 'openai-compatible' ? 'https://models.example.com/v1' : null,
      extras: { headers: {}, query: {}, bodyExtra },
    }),
    ...{ env: { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k' }, allowedHosts: [] },
  });
  const provider = kind ? ({ id: 'x', kind } as never) : null;
  return lookup.rates({ workspaceId: 'w', model, setup: { provider, price }, settings });
}

function boundOf(model: string, textBytes: number, options: Options = {}): string {
  const rates = ratesOf(model, options);
  if (rates.kind !== 'rates') return rates.reason;
  const bound = callBound({ ...emptySize, textBytes }, 1_000, rates);
  return bound.kind === 'bound' ? bound.usd : bound.reason;
}

describe('the rates of a call', () => {
  test('are those of the list, at the tier that the prompt may reach', () => {
    // $5 and $30 up to 271,999 tokens, $10 and $45 beyond.
    assert.equal(boundOf('openai/gpt-5.5', 271_999), '1.389995');
    assert.equal(boundOf('openai/gpt-5.5', 272_000), '2.765');
  });

  test('include writing to a cache, for an hour if an option asks for it', () => {
    // $5 for input, $6.25 written to the cache, $10 for an hour.
    const model = 'anthropic/claude-opus-4-5';
    assert.equal(boundOf(model, 1_000_000), '6.275');
    const cacheControl = { type: 'ephemeral', ttl: '1h' };
    const settings = { providerOptions: { anthropic: { cacheControl } } };
    assert.match(boundOf(model, 1_000_000, { settings }), /^10\.0/);
  });

  test("are the workspace's own before those of the list", () => {
    assert.equal(boundOf('openai/gpt-5.5', 1_000, { price: own }), '0.005');
    assert.equal(boundOf('cueline/echo', 1_000, { price: own }), '0.005');
    assert.equal(boundOf('nobody/model', 1_000, { price: own }), '0.005');
  });

  test('are nothing for the built-in model and for models on the own machine', () => {
    assert.equal(boundOf('cueline/echo?delay=1', 1_000), '0');
    assert.equal(boundOf('ollama/llama3.2', 1_000), '0');
  });
});

describe('a call without a bound', () => {
  test('has a model without a price: the message says how to set one', () => {
    const models = ['openai/gpt-unheard-of', 'own/model'];
    for (const model of models) {
      const kind = model.startsWith('own') ? { kind: 'openai-compatible' as const } : {};
      assert.match(boundOf(model, 1, kind), /price of .* is not known\. Set one with PUT/);
    }
    assert.match(boundOf('nobody/model', 1), /Set one with PUT .*'nobody' is not configured/);
  });

  const options: [string, Options][] = [
    ['maxTokens', { settings: { providerOptions: { openai: { maxTokens: 5 } } } }],
    ['max_completion_tokens', { kind: 'openai', bodyExtra: { max_completion_tokens: 5 } }],
    ['num_predict', { kind: 'ollama', bodyExtra: { options: { num_predict: -1 } } }],
    ['n', { kind: 'openai', bodyExtra: { n: 4 } }],
    ['budgetTokens', { settings: { providerOptions: { a: { thinking: { budgetTokens: 9 } } } } }],
    ['reasoningEffort', { kind: 'bedrock', settings: { reasoningEffort: 'high' } }],
  ];
  for (const [name, each] of options) {
    test(`has the option ${name}`, () => {
      const model = each.kind === 'bedrock' ? 'b/us.amazon.nova-2-lite-v1:0' : 'openai/gpt-5.5';
      const rates = ratesOf(model, { price: own, ...each });
      assert.ok(rates.kind === 'unbounded' && rates.option?.endsWith(name), JSON.stringify(each));
    });
  }

  test('has a service tier that the list does not price, unless the workspace has a price', () => {
    const settings = { serviceTier: 'priority' };
    assert.match(
      boundOf('openai/gpt-5.5', 1, { settings }),
      /no rate for the option "serviceTier"/,
    );
    assert.equal(boundOf('openai/gpt-5.5', 1_000, { settings, price: own }), '0.005');
    assert.match(boundOf('openai/gpt-5.5', 1, { settings: { serviceTier: 'flex' } }), /^0\./);
  });
});
