import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { noUsage, type Usage } from '../../src/core/model/model-port.ts';
import type { Price } from '../../src/core/model/price.ts';
import { cost, type PriceList, statedCost } from '../../src/models/response/prices.ts';

const at = new Date('2026-11-21T12:00:00Z');
const openai: PriceList = { provider: 'openai' };
const anthropic: PriceList = { provider: 'anthropic' };

function used(inputTokens: number, outputTokens: number, read = 0, write = 0): Usage {
  return { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: write };
}

function own(inputPerMillion: string, outputPerMillion: string): Price {
  return {
    inputPerMillion,
    outputPerMillion,
    cacheReadPerMillion: null,
    cacheWritePerMillion: null,
  };
}

describe('real entries of the library', () => {
  const cases: [PriceList, string, Usage, string][] = [
    // $0.15 in, $0.60 out, $0.075 from the cache, for a million
    [openai, 'gpt-4o-mini', used(1_000, 500), '0.00045'],
    [openai, 'gpt-4o-mini', used(1, 1), '0.00000075'],
    [openai, 'gpt-4o-mini', used(1_000, 500, 400), '0.00042'],
    [openai, 'gpt-4o-mini', used(1_000, 500, 1_000), '0.000375'],
    [openai, 'gpt-4o-mini', noUsage, '0'],
    [openai, 'gpt-4o-mini-2024-07-18', used(1_000, 500), '0.00045'],
    // Without a price for cache writes, the input price applies
    [openai, 'gpt-4o-mini', used(1_000, 500, 0, 400), '0.00045'],
    // $5, $25, $0.50 and $6.25: the three kinds of input are disjoint
    [anthropic, 'claude-opus-4-5', used(10_000, 1_000, 6_000, 3_000), '0.05175'],
    // $5 and $30 up to 272,000 tokens of input, $10 and $45 beyond; a tier applies to the whole call
    [openai, 'gpt-5.5', used(271_999, 1_000), '1.389995'],
    [openai, 'gpt-5.5', used(272_000, 1_000), '2.765'],
    [openai, 'gpt-5.5', used(272_000, 1_000, 272_000), '0.317'],
    [{ provider: 'google' }, 'gemini-2.5-pro', used(200_000, 10), '0.2501'],
    [{ provider: 'google' }, 'gemini-2.5-pro', used(200_001, 10), '0.5001525'],
    [{ provider: 'google' }, 'models/gemini-2.5-pro', used(200_000, 10), '0.2501'],
    [{ provider: 'aws' }, 'eu.amazon.nova-pro-v1:0', used(1_000, 100), '0.00112'],
    [{ provider: 'azure' }, 'gpt-4o-mini', used(1_000, 500), '0.00045'],
    [{ url: 'https://api.mistral.ai/v1' }, 'mistral-small-latest', used(0, 0), '0'],
  ];
  for (const [list, model, usage, usd] of cases) {
    test(`${JSON.stringify(list)} ${model} ${Object.values(usage)} costs ${usd}`, () => {
      assert.deepEqual(cost(list, model, usage, null, at), { usd, known: true, source: 'table' });
    });
  }
});

describe('an unknown price', () => {
  const cases: [string, PriceList, string, Usage | null][] = [
    ['an unlisted model', openai, 'gpt-unheard-of', used(1, 1)],
    ['an unlisted provider', { provider: 'nobody' }, 'gpt-4o', used(1, 1)],
    ['an unknown URL', { url: 'http://127.0.0.1:9000/v1' }, 'gpt-4o', used(1, 1)],
    [
      'a listed model without a price',
      { url: 'https://api.cerebras.ai/v1' },
      'qwen-3-coder-480b',
      used(1, 1),
    ],
    ['an unknown price list', 'unknown', 'gpt-4o', used(1, 1)],
    ['a call without usage', openai, 'gpt-4o', null],
    ['a model without a price for output', openai, 'text-embedding-3-small', used(1, 1)],
    ['a model with an hourly price', openai, 'whisper-1', used(1, 1)],
    [
      'a separate price for reasoning',
      { provider: 'perplexity' },
      'sonar-deep-research',
      used(1, 1),
    ],
  ];
  for (const [what, list, model, usage] of cases) {
    test(what, () => {
      assert.deepEqual(cost(list, model, usage, null, at), { usd: '0', known: false });
    });
  }
});

test('an own machine costs nothing, with and without usage', () => {
  assert.deepEqual(cost('free', 'llama3.2', used(5, 5), null, at), {
    usd: '0',
    known: true,
    source: 'table',
  });
  assert.deepEqual(cost('free', 'llama3.2', null, null, at), {
    usd: '0',
    known: true,
    source: 'table',
  });
});

test('models that the library lists as free cost nothing', () => {
  const models = [
    ['openrouter', 'agentica-org/deepcoder-14b-preview:free'],
    ['google', 'gemma-3-27b-it'],
    ['google', 'gemma-4-31b-it'],
  ] as const;
  for (const [provider, model] of models) {
    assert.deepEqual(cost({ provider }, model, used(5, 5), null, at), {
      usd: '0',
      known: true,
      source: 'table',
    });
  }
});

test('a price per request is added once', () => {
  const list = { provider: 'perplexity' };
  const entry = calcPrice({ input_tokens: 0 }, 'sonar', {
    providerId: 'perplexity',
    timestamp: at,
  });
  const perThousand = Number(entry?.model_price.requests_kcount);
  assert.ok(perThousand > 0);
  assert.equal(Number(cost(list, 'sonar', used(0, 0), null, at).usd), perThousand / 1_000);
});

test('a price that changes is that of the day of the call', () => {
  const o3 = (day: string) => cost(openai, 'o3', used(1_000_000, 0), null, new Date(day)).usd;
  assert.deepEqual([o3('2025-06-01'), o3('2025-07-01')], ['10', '2']);
});

describe('a price of the workspace', () => {
  const override = own('2.50', '10');

  test('takes precedence over the library', () => {
    const found = cost(openai, 'gpt-4o-mini', used(1_000_000, 100_000), override, at);
    assert.deepEqual(found, { usd: '3.5', known: true, source: 'workspace' });
  });

  test('applies to an unlisted model', () => {
    const found = cost('unknown', 'private', used(1, 0), override, at);
    assert.deepEqual(found, { usd: '0.0000025', known: true, source: 'workspace' });
  });

  test('applies to cached tokens unless they have their own price', () => {
    const usage = used(1_000, 0, 400, 100);
    assert.equal(cost('unknown', 'm', usage, override, at).usd, '0.0025');
    const separate = { ...override, cacheReadPerMillion: '0.25', cacheWritePerMillion: '3.125' };
    assert.equal(cost('unknown', 'm', usage, separate, at).usd, '0.0016625');
  });

  test('may be zero, which is a known cost', () => {
    const zero = own('0', '0.00');
    assert.deepEqual(cost('unknown', 'm', null, zero, at), {
      usd: '0',
      known: true,
      source: 'workspace',
    });
  });

  test('is rounded half up to ten places', () => {
    const tiny = (price: string) => cost('unknown', 'm', used(1, 0), own(price, '0'), at).usd;
    assert.equal(tiny('0.00005'), '0.0000000001');
    assert.equal(tiny('0.000049999999'), '0');
  });

  test('that is malformed leaves the cost unknown', () => {
    const broken = own('two', '1');
    assert.equal(cost(openai, 'gpt-4o-mini', used(1, 1), broken, at).known, false);
  });
});

test('more cached than input tokens do not make a cost negative', () => {
  const override = { ...own('1', '1'), cacheReadPerMillion: '0.5' };
  assert.equal(cost('unknown', 'm', used(10, 0, 30), override, at).usd, '0.000015');
});

test('the largest counts are priced exactly', () => {
  const most = 2_147_483_647;
  const override = own('999999.999999999999', '0.5');
  const { usd } = cost('unknown', 'm', used(most, most), override, at);
  assert.equal(usd, '2147484720.7418234979');
});

test('every listed model has the price of the library or an unknown one', () => {
  const providers = [
    'openai',
    'anthropic',
    'google',
    'azure',
    'aws',
    'groq',
    'mistral',
    'deepseek',
  ];
  const usages = [used(1_000, 500), used(300_000, 7_000, 90_000, 5_000), used(600_001, 1, 1, 1)];
  let priced = 0;
  for (const provider of [...providers, 'x-ai', 'openrouter', 'perplexity', 'cohere', 'together']) {
    for (const { id } of findProvider({ providerId: provider })?.models ?? []) {
      for (const usage of usages) {
        const theirs = calcPrice(
          {
            input_tokens: usage.inputTokens,
            output_tokens: usage.outputTokens,
            cache_read_tokens: usage.cacheReadTokens,
            cache_write_tokens: usage.cacheWriteTokens,
          },
          id,
          { providerId: provider, timestamp: at },
        );
        const ours = cost({ provider }, id, usage, null, at);
        if (!ours.known) continue;
        priced++;
        const off = Math.abs(Number(ours.usd) - (theirs?.total_price ?? Number.NaN));
        assert.ok(off < 1e-9, `${provider}/${id}: ${ours.usd}, theirs ${theirs?.total_price}`);
      }
    }
  }
  assert.ok(priced > 2_500, `only ${priced} were priced`);
});

test('a cost that the provider states counts where the workspace has no price', () => {
  const given = statedCost({ cost: 0.00123 });
  assert.deepEqual(given, { usd: '0.00123', known: true, source: 'provider' });
  assert.deepEqual(
    cost({ provider: 'openai' }, 'gpt-4o', used(5, 5), null, at, { stated: given }),
    given,
  );
  assert.deepEqual(cost('unknown', 'm', null, null, at, { stated: given }), given);
  const own = { inputPerMillion: '1', outputPerMillion: '2' };
  const price = { ...own, cacheReadPerMillion: null, cacheWritePerMillion: null };
  assert.equal(cost('unknown', 'm', used(5, 5), price, at, { stated: given }).source, 'workspace');
  assert.equal(statedCost({ cost: '0.5' })?.usd, '0.5');
  for (const odd of [null, {}, { cost: -1 }, { cost: 'x' }, { cost: {} }, { cost: 1e12 }]) {
    assert.equal(statedCost(odd), null, JSON.stringify(odd));
  }
});
