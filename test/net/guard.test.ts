import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolvesTo } from '../../harness/resolves-to.ts';
import { guardCases } from '../../proof/guard/cases.ts';
import { ownAddress } from '../../proof/guard/guard-case.ts';
import { parseAllowedHosts } from '../../src/core/allowed-hosts.ts';
import { checkBaseURL, type Resolve, refusal } from '../../src/net/guard.ts';

const none = parseAllowedHosts([]);
/** Only the network of the proof has that address. */
const ownCases = guardCases.filter((one) => !JSON.stringify(one).includes(ownAddress));
const publicURLs = [
  'https://api.openai.com/v1',
  'https://API.OpenAI.com:443/v1/',
  'https://api.groq.com/openai/v1',
  'https://example.com:8443/',
  'https://8.8.8.8/',
  'https://134744072/',
  'https://[2606:4700:4700::1111]/v1',
  'https://localhost.example.com/',
  'https://internal.example.com/',
  'https://127.0.0.1.example.com/',
  'https://münchen.example/',
  'https://10.example.com/',
];

describe('the cases of the proof `outbound-guard`, which also calls them', () => {
  for (const { baseURL, names = {}, allowedHosts = [], stored, why = '', kind } of ownCases) {
    const caseName = [baseURL.slice(0, 60), ...allowedHosts, ...Object.values(names).flat(2), kind];
    test(JSON.stringify(caseName), async () => {
      const resolve: Resolve = async (name) => {
        assert.ok(stored || names[name], 'a name was resolved');
        return resolvesTo(...(names[name]?.[0] ?? []))(name);
      };
      const reason = await checkBaseURL(baseURL, allowedHosts, resolve);
      assert.equal(reason === null, stored, `${reason}`);
      if (!stored) assert.ok(reason?.includes(why), `${reason}`);
      const url = URL.parse(baseURL);
      const isJudgedByHost = url && !stored && Object.keys(names).length === 0 && why === '';
      if (isJudgedByHost)
        assert.ok(refusal(url, parseAllowedHosts(allowedHosts)), 'a call may go there');
    });
  }
});

describe('a base URL that is public', () => {
  for (const text of publicURLs) {
    test(text, async () => {
      assert.equal(await checkBaseURL(text, [], resolvesTo('93.184.215.14')), null);
      assert.equal(refusal(new URL(text), none), null);
    });
  }
});

test('the message does not contain the addresses', async () => {
  const reason = await checkBaseURL('https://llm.example.com/v1', [], resolvesTo('10.1.2.3'));
  assert.match(reason ?? '', /not point to a public address/);
  assert.doesNotMatch(reason ?? '', /10\.1/);
});

test('an unresolved name is accepted, because the connection checks again', async () => {
  const unknown: Resolve = () => Promise.reject(new Error('ENOTFOUND'));
  assert.equal(await checkBaseURL('https://llm.example.com/v1', [], unknown), null);
});

describe('allowed hosts', () => {
  const malformed = [
    '',
    'http://127.0.0.1',
    '127.0.0.1:',
    'a:b',
    'a:0',
    'a:70000',
    '::1',
    'a/b',
    '*',
  ];
  for (const entry of [
    ...malformed,
    'u@host',
    'a b',
    '[::1',
    '[zz]:1',
    '1.2.3.4.5',
    'a?b',
    '*.lan',
  ]) {
    test(`'${entry}' is not a valid entry`, () =>
      assert.throws(() => parseAllowedHosts([entry]), /not a host/));
  }
});
