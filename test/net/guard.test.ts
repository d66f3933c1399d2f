import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolvesTo } from '../../harness/resolves-to.ts';
import { parseAllowedHosts } from '../../src/core/allowed-hosts.ts';
import { checkBaseURL, type Resolve, refusal } from '../../src/net/guard.ts';

const none = parseAllowedHosts([]);
const neverResolves: Resolve = () => assert.fail('a name was resolved');
/** Notations of non-public addresses and hosts, with `https:` so that only the host is invalid. */
const privateURLs = [
  'https://127.0.0.1/v1',
  'https://127.1/',
  'https://127.0.1/',
  'https://0x7f.1/',
  'https://0x7f000001/',
  'https://0X7F.0X0.0X0.0X1/',
  'https://2130706433/',
  'https://017700000001/',
  'https://0177.0.0.1/',
  'https://0177.0x0.0.1/',
  'https://00000177.0.0.1/',
  'https://127.0.0.1./',
  'https://127.000.000.001/',
  'https://%31%32%37.0.0.1/',
  'https://127。0。0。1/',
  'https://１２７.0.0.1/',
  'https://①②⑦.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1:8443/',
  'https://167772161/',
  'https://012.0.0.1/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://3232235777/',
  'https://192.168.257/',
  'https://100.64.0.1/',
  'https://100.100.100.200/latest/meta-data/',
  'https://169.254.169.254/latest/meta-data/',
  'https://0xa9fea9fe/',
  'https://2852039166/',
  'https://0251.0376.0251.0376/',
  'https://169.254.43518/',
  'https://168.63.129.16/',
  'https://192.0.0.192/opc/v2/instance/',
  'https://198.18.0.1/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://4294967295/',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[0000:0000:0000:0000:0000:0000:0000:0001]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::FFFF:169.254.169.254]/',
  'https://[0:0:0:0:0:ffff:127.0.0.1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[64:ff9b:1::10.0.0.1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[fd00:ec2::254]/',
  'https://[fc00::1]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://LoCaLhOsT:443/',
  'https://ｌｏｃａｌｈｏｓｔ/',
  'https://loc%61lhost/',
  'https://api.localhost/',
  'https://a.b.localhost/',
  'https://printer.local/',
  'https://metadata.google.internal/computeMetadata/v1/',
  'https://METADATA.GOOGLE.INTERNAL/',
  'https://metadata.google.internal./',
  'https://instance-data.ec2.internal/',
  'https://nas.home.arpa/',
  'https://metadata/',
  'https://postgres:5432/',
  'https://api.openai.com./v1',
  'https://api..openai.com/',
  'https://.openai.com/',
  'https:\\\\127.0.0.1\\v1',
  'https:/127.0.0.1/',
  'https:127.0.0.1/',
  'https:///127.0.0.1/',
  ' https://127.0.0.1/ ',
  'ht\ttps://127.0.\n0.1/',
  'HTTPS://127.0.0.1/',
];

const malformedURLs = [
  ['', 'not a URL'],
  ['api.openai.com/v1', 'not a URL'],
  ['//api.openai.com', 'not a URL'],
  ['https://', 'not a URL'],
  ['https://:443/', 'not a URL'],
  ['https://256.0.0.1/', 'not a URL'],
  ['https://1.2.3.4.5/', 'not a URL'],
  ['https://0x.0x.0x.0x1ff/', 'not a URL'],
  ['https://[fe80::1%25eth0]/', 'not a URL'],
  ['https://[::1%lo]/', 'not a URL'],
  ['https://[::1/', 'not a URL'],
  ['https://exa mple.com/', 'not a URL'],
  ['https://example.com:99999/', 'not a URL'],
  ['ftp://example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['data:text/plain,x', 'https://'],
  ['gopher://127.0.0.1:6379/_x', 'https://'],
  ['unix:///var/run/docker.sock', 'https://'],
  ['ws://example.com/', 'https://'],
  ['http://example.com/', 'https://'],
  ['http://127.0.0.1:9000/', 'https://'],
  ['http://8.8.8.8/', 'https://'],
  ['https://user@example.com/', 'user name'],
  ['https://user:secret@example.com/', 'user name'],
  ['https://:secret@example.com/', 'user name'],
  ['https://example.com@127.0.0.1/', 'user name'],
  ['https://example.com%40127.0.0.1@[::1]/', 'user name'],
  ['https://example.com/v1?key=1', 'query'],
  ['https://example.com/v1?', 'query'],
  ['https://example.com/#x', 'fragment'],
  ['https://127.0.0.1#@example.com/', 'fragment'],
  [`https://example.com/${'x'.repeat(2_000)}`, 'characters'],
] as const;

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

describe('a base URL that is not public', () => {
  for (const text of privateURLs) {
    test(JSON.stringify(text), async () => {
      const reason = await checkBaseURL(text, [], neverResolves);
      assert.ok(reason !== null, 'the URL was accepted');
      assert.doesNotMatch(reason, /query|fragment/);
      const url = URL.parse(text);
      assert.ok(url === null || refusal(url, none), 'the call was allowed');
    });
  }
});

describe('a malformed base URL', () => {
  for (const [text, why] of malformedURLs) {
    test(JSON.stringify(text.slice(0, 60)), async () => {
      const refused = await checkBaseURL(text, [], neverResolves);
      assert.ok(refused?.includes(why), `${refused}`);
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

describe('resolved addresses', () => {
  const check = (resolve: Resolve) => checkBaseURL('https://llm.example.com/v1', [], resolve);

  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '64:ff9b::1',
  ]) {
    test(`${address} is refused`, async () => {
      assert.match((await check(resolvesTo(address))) ?? '', /not point to a public address/);
      assert.ok(await check(resolvesTo('8.8.8.8', address)), 'also next to a public one');
    });
  }

  test('the message does not contain the addresses', async () => {
    assert.doesNotMatch((await check(resolvesTo('10.1.2.3'))) ?? '', /10\.1/);
  });

  test('an unresolved name is accepted, because the connection checks again', async () => {
    assert.equal(await check(() => Promise.reject(new Error('ENOTFOUND'))), null);
    assert.equal(await check(resolvesTo()), null);
  });
});

describe('allowed hosts', () => {
  const allow = ['127.0.0.1:9000', 'ollama.lan', '[::1]:8080', 'Box.Local:443', '10.0.0.5'];
  const cases = [
    ['http://127.0.0.1:9000/v1', true],
    ['https://127.0.0.1:9000/v1', true],
    ['http://0x7f.1:9000/v1', true],
    ['http://127.0.0.1:9001/v1', false],
    ['http://127.0.0.1/v1', false],
    ['http://127.0.0.2:9000/v1', false],
    ['http://ollama.lan/v1', true],
    ['http://OLLAMA.lan:11434/v1', true],
    ['http://ollama.lan./v1', false],
    ['http://x.ollama.lan/v1', false],
    ['http://ollama.lan.example.com/v1', false],
    ['http://[::1]:8080/v1', true],
    ['http://[0:0:0:0:0:0:0:1]:8080/v1', true],
    ['http://[::1]/v1', false],
    ['https://box.local/v1', true],
    ['http://box.local/v1', false],
    ['http://box.local:443/v1', true],
    ['http://10.0.0.5:1/v1', true],
    ['http://[::ffff:10.0.0.5]:1/v1', false],
    ['http://user:secret@ollama.lan/v1', false],
    ['ftp://ollama.lan/v1', false],
    ['http://localhost:9000/v1', false],
  ] as const;
  for (const [text, allowed] of cases) {
    test(`${text} ${allowed ? 'is allowed' : 'is rejected'}`, async () => {
      assert.equal((await checkBaseURL(text, allow, neverResolves)) === null, allowed);
    });
  }

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
