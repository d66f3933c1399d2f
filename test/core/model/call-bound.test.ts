import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { emptySize, type PromptSize } from '../../../src/core/agent/prompt-size.ts';
import { ceilDecimal, toUnits } from '../../../src/core/decimal.ts';
import { callBound, type ModelRates } from '../../../src/core/model/call-bound.ts';

const dollar = 10n ** 24n;

const rates: ModelRates = {
  kind: 'rates',
  tiers: [{ above: 0, input: dollar, output: 2n * dollar }],
  ...{ perRequest: 0n, imageTokens: 1_000, reasoningTokens: 0, optionBytes: 0 },
};

function bound(size: Partial<PromptSize>, maxTokens = 0, more: Partial<ModelRates> = {}) {
  const found = callBound({ ...emptySize, ...size }, maxTokens, { ...rates, ...more });
  if (found.kind !== 'bound') throw new Error(found.reason);
  return found;
}

describe('the bound of a call', () => {
  test('counts bytes, messages, tools and images', () => {
    assert.equal(bound({ textBytes: 100, messages: 2 }).inputTokens, 132);
    assert.equal(bound({ toolBytes: 101 }).inputTokens, 127 + 700);
    assert.equal(bound({ images: 3 }).inputTokens, 3_000);
    assert.equal(bound({ textBytes: 1 }, 0, { optionBytes: 9 }).inputTokens, 10);
    assert.equal(bound({}, 100, { reasoningTokens: 20 }).outputTokens, 120);
  });

  test('multiplies by the price of input and of output, and adds that of the request', () => {
    assert.equal(bound({ textBytes: 1_000_000 }, 1_000_000).usd, '3');
    assert.equal(bound({ textBytes: 1 }, 1, { perRequest: dollar / 4n }).usd, '0.250003');
  });

  test('has the dearest rates of the tiers that the prompt may reach', () => {
    const tiers = [
      { above: 200, input: 3n * dollar, output: dollar },
      { above: 0, input: dollar, output: 2n * dollar },
    ];
    assert.equal(bound({ textBytes: 200 }, 100, { tiers }).usd, '0.0004');
    assert.equal(bound({ textBytes: 201 }, 100, { tiers }).usd, '0.000803');
  });

  test('is rounded up at the tenth decimal', () => {
    const tiers = [{ above: 0, input: dollar / 1_000_000n, output: 0n }];
    assert.equal(bound({ textBytes: 1 }, 0, { tiers }).usd, '0.0000000001');
    assert.equal(bound({ textBytes: 0 }, 0, { tiers }).usd, '0');
  });

  test('is unknown with a file of which nobody knows how many tokens it has', () => {
    const pdf = callBound({ ...emptySize, otherFile: 'application/pdf' }, 0, rates);
    assert.match(pdf.kind === 'unbounded' ? pdf.reason : '', /application\/pdf/);
    const image = callBound({ ...emptySize, images: 1 }, 0, { ...rates, imageTokens: null });
    assert.equal(image.kind, 'unbounded');
  });

  test('is nothing for a model that costs nothing', () => {
    const tiers = [{ above: 0, input: 0n, output: 0n }];
    const free = { tiers, imageTokens: null };
    assert.equal(bound({ textBytes: 9, images: 1, otherFile: 'x' }, 9, free).usd, '0');
  });
});

test('a decimal that is rounded up is never smaller, and by less than one step', () => {
  const step = 10n ** 14n;
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), (units) => {
      const up = toUnits(ceilDecimal(units, 1n, 10)) ?? -1n;
      assert.ok(up >= units && up - units < step);
    }),
  );
});
