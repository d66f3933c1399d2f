import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { messageCharsMax, redact } from '../../../src/models/failure/redact.ts';

const key = 'hunter2/Top+Secret=="1';
const aws =
  'AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY:IQoJb3JpZ2luX2Vj//token==';

describe('the key of the call in any encoding', () => {
  const forms = [
    key,
    encodeURIComponent(key),
    encodeURIComponent(key).replaceAll('%2F', '/'),
    JSON.stringify(key),
    Buffer.from(key).toString('base64'),
    Buffer.from(key).toString('base64url'),
    Buffer.from(key).toString('hex'),
    `${key}${key}`,
  ];
  for (const form of forms) {
    test(form, () => {
      const out = redact(`before ${form} after`, [key]);
      assert.match(out, /^before "?(\[redacted\])+"? after$/);
    });
  }

  test('each part of an AWS key pair', () => {
    for (const part of [aws, ...aws.split(':')]) {
      assert.equal(
        redact(`The token ${part} is invalid`, [aws]),
        'The token [redacted] is invalid',
      );
    }
  });

  test('the beginning of a long one with a mask, and no text that begins like another value', () => {
    const long = 'Zx7-Super+Secret/1234567890';
    for (const rest of ['****', '***7890', '…', '...90', '••']) {
      assert.equal(redact(`no ${long.slice(0, 12)}${rest}`, [long]), 'no [redacted]');
    }
    for (const [value, text] of [
      ['https://app.example/of/2026/that/calls', 'see https://app.example/docs'],
      ['meta-llama/llama-3.1-70b-instruct', 'no model meta-llama/llama-4-scout'],
      ['interleaved-thinking-2025-05-14', 'interleaved-thinking is not available.'],
    ] as const) {
      assert.equal(redact(text, [value]), text);
    }
  });

  test('no more parts than an AWS key has', () => {
    assert.equal(redact('xxxxxx', [`${aws}:xxxxxx`]), 'xxxxxx');
  });

  test('an ordinary word is kept', () => {
    assert.equal(redact('model a:1 is unknown', ['a:1']), 'model a:1 is unknown');
  });
});

describe('text that looks like a secret', () => {
  const cases = [
    ['Incorrect API key provided: sk-proj-abcDEF1234567890. See', 'provided: [redacted] See'],
    ['key sk-ant-api03-AbC_dEf-123456', 'key [redacted]'],
    ['Incorrect API key: sk-ab****************wxyz.', 'key: [redacted]'],
    ['xai-abcdefghij1234567890', '[redacted]'],
    ['gsk_abcdefghij1234567890', '[redacted]'],
    ['hf_abcdefghijKLMNOP', '[redacted]'],
    ['sk-or-v1-0123456789abcdef', '[redacted]'],
    ['github_pat_11ABCDEFG0123456789', '[redacted]'],
    [`cue_${'a'.repeat(36)}`, '[redacted]'],
    ['AIzaSyA-1234567890abcdefghijklmnopqrstu', '[redacted]'],
    ['access key AKIAIOSFODNN7EXAMPLE', 'access key [redacted]'],
    ['ABSKQmVkcm9ja0FQSUtleS1hYmNkZWZnaGlqa2w=', '[redacted]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP', '[redacted]'],
    ['Authorization: Bearer abc.def', 'Authorization: [redacted]'],
    ['{"authorization":"Bearer abcdef"}', '{"authorization":"[redacted]"}'],
    ['proxy-authorization: Basic dXNlcjpwYXNz', 'proxy-authorization: [redacted]'],
    ["{'x-api-key': 'abc'}", "{'x-api-key': '[redacted]'}"],
    ['x-goog-api-key=abcdef', 'x-goog-api-key=[redacted]'],
    ['api_key: abcdef, model: x', 'api_key: [redacted], model: x'],
    ['sent Bearer abcdefgh12345 to', 'sent Bearer [redacted] to'],
    ['Cookie: session=abc', 'Cookie: [redacted]'],
    [
      'https://h.example/v1?alt=json&key=abc&x=1',
      'https://h.example/v1?alt=json&key=[redacted]&x=1',
    ],
    ['https://h.example/?X-Amz-Signature=abc', 'https://h.example/?X-Amz-Signature=[redacted]'],
    ['/v1?access_token=abc#x', '/v1?access_token=[redacted]#x'],
    ['/v1?api-key=abc def', '/v1?api-key=[redacted] def'],
    ['https://user:pa55@h.example/v1', 'https://[redacted]@h.example/v1'],
    ['redis://:pa55@10.0.0.1:6379', 'redis://[redacted]@10.0.0.1:6379'],
  ] as const;
  for (const [text, expected] of cases) {
    test(text, () => {
      const out = redact(text, []);
      assert.ok(out.endsWith(expected) || out === expected, out);
    });
  }
});

describe('useful text is kept', () => {
  for (const text of [
    'Rate limit reached for gpt-4o in organization org-x on tokens per min: Limit 30000, Used 29000.',
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    'The model `llama3.2` does not exist or you do not have access to it.',
    'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens',
    'basic authentication is not supported',
    'See https://platform.openai.com/docs/guides/error-codes?lang=en#key for more.',
    'Zeile eins\nZeile zwei\t🙂',
  ]) {
    test(text, () => assert.equal(redact(text, [key]), text));
  }
});

describe('the text', () => {
  test('is truncated between characters', () => {
    assert.equal(redact('x'.repeat(messageCharsMax), []).length, messageCharsMax);
    const long = redact('🙂'.repeat(messageCharsMax), []);
    assert.ok(long.length <= messageCharsMax && long.isWellFormed() && long.endsWith('🙂…'));
  });

  test('contains only the beginning of a long page', () => {
    assert.equal(redact(`${' '.repeat(10_000)}x`, []), 'x');
    assert.equal(redact(`${' '.repeat(20_000)}x`, []), '');
  });

  test('is storable', () => {
    assert.equal(redact('a\0b\u001b[31m\u0085\ud800c\r\n', []), 'a\ufffdb\ufffd[31m\ufffd\ufffdc');
  });

  test('contains no secret, respects the limit and is well-formed', () => {
    const secret = fc.string({ minLength: 6, maxLength: 60, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.string(), secret, fc.string(), (a, s, b) => {
        const out = redact(`${a}${s}${b}`, [s]);
        // The rest may contain the secret only if the marker itself does.
        return (
          out.length <= messageCharsMax &&
          out.isWellFormed() &&
          (s.includes(':') || !out.replaceAll('[redacted]', '').includes(s))
        );
      }),
    );
  });

  test('takes linear time for hostile responses', () => {
    const hostile = [
      'eyJaaaaaaaa-',
      'a.',
      'a://',
      '?key',
      '?a.',
      'sk-',
      'bearer ',
      'cookie: ',
      '@',
    ];
    for (const piece of hostile) redact(piece.repeat(1_000_000 / piece.length), [key]);
  });

  test('takes linear time for hostile keys', () => {
    const hostile = `${'a'.repeat(300)}b${'a'.repeat(3_700)}`;
    const page = `${'a'.repeat(10_000)} ${hostile}`;
    for (let round = 0; round < 100; round++) {
      assert.ok(redact(page, [hostile]).startsWith('aaa'));
    }
  });

  test('redacts exactly the occurrences of a repetitive key', () => {
    const letters = fc.string({ unit: fc.constantFrom('w', 'z'), maxLength: 60 });
    const secret = fc.string({ unit: fc.constantFrom('w', 'z'), minLength: 6, maxLength: 9 });
    fc.assert(
      fc.property(letters, secret, letters, (a, s, b) => {
        const text = `${a}${s}${b}`;
        assert.equal(redact(text, [s]), text.replaceAll(s, '[redacted]'));
      }),
      { numRuns: 1_000 },
    );
  });
});
